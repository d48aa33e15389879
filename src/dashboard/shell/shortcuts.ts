import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { PageEntry } from '../pages'

/** Keyboard shortcuts of every page, as shown in the dialog. */
export const shortcuts: readonly (readonly [keys: string, action: string])[] = [
  ['⌘ K or Ctrl K', 'Search or jump to…'],
  ['/', 'Focus the search field'],
  ['c', 'Create a resource'],
  ['j, k', 'Move down or up in a list'],
  ['Enter', 'Open the current row'],
  ['x', 'Select the current row'],
  ['Escape', 'Close the dialog or menu'],
  ['?', 'Show keyboard shortcuts'],
]

interface ShortcutHandlers {
  palette(): void
  shortcuts(): void
}

const chordMs = 1200

/**
 * Handles the keyboard shortcuts of every page. `j` and `k` move the focus into the list of the page.
 * @param isEnabled whether single-key shortcuts work. Users can turn them off (WCAG 2.1, criterion 2.1.4).
 */
export function useShortcuts(items: readonly PageEntry[], handlers: ShortcutHandlers, isEnabled: boolean): void {
  const navigate = useNavigate()
  const latest = useRef({ items, handlers, isEnabled })
  latest.current = { items, handlers, isEnabled }
  useEffect(() => {
    let chordUntil = 0
    const onKeyDown = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        latest.current.handlers.palette()
        return
      }
      if (!latest.current.isEnabled) return
      const target = event.target as HTMLElement
      if (event.ctrlKey || event.metaKey || event.altKey || target.matches('input, textarea, select, [contenteditable]')) return
      if (document.querySelector('[role=dialog]:not([aria-modal=false]), [role=menu]')) return
      if (event.timeStamp < chordUntil) {
        chordUntil = 0
        const item = latest.current.items.find(one => one.letter === event.key)
        if (item) {
          event.preventDefault()
          void navigate({ to: item.path })
        }
        return
      }
      if (event.key === 'g') chordUntil = event.timeStamp + chordMs
      else if (event.key === '?') latest.current.handlers.shortcuts()
      else if (event.key === '/') focusElement(event, '[data-search]')
      else if (event.key === 'c') {
        const button = document.querySelector<HTMLElement>('[data-new]')
        if (!button) return
        // Otherwise, the field that the button focuses would receive the letter.
        event.preventDefault()
        button.click()
      } else if (event.key === 'j' || event.key === 'k') {
        const table = document.querySelector<HTMLElement>('[data-table]')
        if (!table || table.contains(target)) return
        table.focus({ preventScroll: true })
        table.dispatchEvent(new KeyboardEvent('keydown', { key: event.key, bubbles: true }))
      }
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [navigate])
}

function focusElement(event: KeyboardEvent, selector: string): void {
  const found = document.querySelector<HTMLElement>(selector)
  if (!found) return
  event.preventDefault()
  found.focus()
}
