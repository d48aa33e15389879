import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/button'

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
      <input
        aria-label="Target to monitor"
        placeholder="https://www.example.com/"
        value={text}
        onChange={event => setText(event.target.value)}
        className="h-9 min-w-0 grow rounded-md border border-strong-line bg-surface px-2.5 placeholder:text-muted"
      />
      <Button type="submit" kind="primary">
        Start monitoring
      </Button>
    </form>
  )
}
