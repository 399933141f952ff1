// Before anything is drawn: what somebody chose here last, or else what his system says.
{
  const chosen = localStorage.getItem('muster-theme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
}
