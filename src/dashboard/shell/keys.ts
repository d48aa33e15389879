import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { Place } from './navigation'

/** The keys of every page, as the cheat sheet lists them. */
export const keys: readonly (readonly [keys: string, what: string])[] = [
  ['⌘ K or Ctrl K', 'Everything: go somewhere, find something, do something'],
  ['/', 'Search the list'],
  ['c', 'Make a new one, where the page has something to make'],
  ['j, k', 'Down and up in a list'],
  ['Enter', 'Open the row'],
  ['x', 'Choose the row'],
  ['Escape', 'Close what is open'],
  ['?', 'This sheet'],
]

interface Acts {
  palette(): void
  sheet(): void
}

const chordMs = 1200

/**
 * Listens to the keys that work everywhere: `g` and a letter for a place, `/`, `c`, `?`, Ctrl K; `j` and `k` go into the list.
 * @param isKeyed whether keys alone, without Ctrl or Meta, do something: people may turn them off (WCAG 2.1, criterion 2.1.4)
 */
export function useKeys(places: readonly Place[], acts: Acts, isKeyed: boolean): void {
  const navigate = useNavigate()
  const latest = useRef({ places, acts, isKeyed })
  latest.current = { places, acts, isKeyed }
  useEffect(() => {
    let chordUntil = 0
    const pressed = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        latest.current.acts.palette()
        return
      }
      if (!latest.current.isKeyed) return
      const target = event.target as HTMLElement
      if (event.ctrlKey || event.metaKey || event.altKey || target.matches('input, textarea, select, [contenteditable]')) return
      if (document.querySelector('[role=dialog]:not([aria-modal=false]), [role=menu]')) return
      if (event.timeStamp < chordUntil) {
        chordUntil = 0
        const place = latest.current.places.find(one => one.letter === event.key)
        if (place) {
          event.preventDefault()
          void navigate({ to: place.to })
        }
        return
      }
      if (event.key === 'g') chordUntil = event.timeStamp + chordMs
      else if (event.key === '?') latest.current.acts.sheet()
      else if (event.key === '/') focusOn(event, '[data-search]')
      else if (event.key === 'c') document.querySelector<HTMLElement>('[data-new]')?.click()
      else if (event.key === 'j' || event.key === 'k') {
        const table = document.querySelector<HTMLElement>('[data-table]')
        if (!table || table.contains(target)) return
        table.focus({ preventScroll: true })
        table.dispatchEvent(new KeyboardEvent('keydown', { key: event.key, bubbles: true }))
      }
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [navigate])
}

function focusOn(event: KeyboardEvent, selector: string): void {
  const found = document.querySelector<HTMLElement>(selector)
  if (!found) return
  event.preventDefault()
  found.focus()
}
