import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/button'
import { Input } from '../../parts/input'

/** A field for the first target, which opens the form for a new monitor. */
export function FirstMonitor() {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  return (
    <form
      className="flex gap-2"
      onSubmit={event => {
        event.preventDefault()
        void navigate({ to: '/monitors/new', search: { target: text } })
      }}
    >
      <Input aria-label="Target to monitor" placeholder="e.g. https://www.example.com/" value={text} onText={setText} mono />
      <Button type="submit" kind="primary" disabled={text.trim() === ''}>
        Start monitoring
      </Button>
    </form>
  )
}
