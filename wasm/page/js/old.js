// Shows a message in browsers too old for modules; so it uses old JavaScript.
(function () {
  document.getElementById('loading').hidden = true;
  document.getElementById('failure').hidden = false;
  document.getElementById('failure-buttons').hidden = true;
  document.getElementById('failure-details').hidden = true;
  document.getElementById('failure-title').textContent = 'This browser is too old for Recut';
  document.getElementById('failure-message').textContent =
    'It needs JavaScript modules, WebAssembly and WebGL 2, which the browsers of the last years have.';
})();
