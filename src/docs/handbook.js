// Adds to the pages of the handbook: copy buttons, a keyboard shortcut for the search field, and scrolling to the current page in
// the navigation. Everything else works without scripts.
const current = document.querySelector('#pages [aria-current]')
if (current) current.closest('nav').scrollTop = current.offsetTop - innerHeight / 2

for (const block of document.querySelectorAll('main pre')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.textContent)
    button.textContent = 'Copied'
    setTimeout(() => (button.textContent = 'Copy'), 2000)
  })
  const frame = document.createElement('div')
  frame.className = 'code'
  block.replaceWith(frame)
  // The clipboard is only available on HTTPS and localhost.
  frame.append(block, ...(navigator.clipboard ? [button] : []))
}

document.addEventListener('keydown', event => {
  const isTyping = event.target instanceof HTMLInputElement
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  document.querySelector('input[type=search]').focus()
})
