// Everything on this page reads without this script. It filters claims and folds the contents.
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
})();
