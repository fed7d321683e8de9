// Everything on this page reads without this script. It filters claims, folds the contents, and opens what
// a link leads to or a printer needs.
(function () {
  var form = document.getElementById("filter");
  if (form) {
    form.hidden = false;
    form.addEventListener("change", function () {
      document.querySelectorAll(".claim").forEach(function (card) {
        card.hidden = ["defined", "printed", "documents"].some(function (name) {
          var wanted = form.elements[name].value;
          return wanted && card.dataset[name].split(" ").indexOf(wanted) < 0;
        });
      });
    });
  }
  var menu = document.getElementById("menu");
  menu.parentNode.addEventListener("click", function (event) {
    if (event.target.tagName === "A") menu.checked = false;
  });
  function open() {
    var place = location.hash && document.getElementById(location.hash.slice(1));
    for (var one = place; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    if (place) place.scrollIntoView();
  }
  addEventListener("hashchange", open);
  addEventListener("beforeprint", function () {
    document.querySelectorAll("details.document").forEach(function (one) { one.open = true; });
  });
  open();
})();
