// Everything on this page reads without this script. It folds the contents, and opens what a link leads to
// or a printer needs.
(function () {
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
