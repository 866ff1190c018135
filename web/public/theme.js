// Before the first paint, so that nothing flashes: the chosen theme and language, else the machine's.
(function () {
  var root = document.documentElement;
  var theme = null, language = null;
  try {
    theme = localStorage.getItem('errand.theme');
    language = localStorage.getItem('errand.language');
  } catch (error) { /* Storage is off: the machine's own. */ }
  var dark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.dataset.theme = dark ? 'dark' : 'light';
  root.lang = language || (/^zh/i.test(navigator.language) ? 'zh' : 'en');
})();
