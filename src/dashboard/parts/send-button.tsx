import { CirclePause, CirclePlay } from 'lucide-react'
import type { ComponentProps } from 'react'
import type { Call } from '../client'
import { useSend, type SendOptions } from '../queries'
import { Button } from './button'

interface SendButtonProps<Result> extends ComponentProps<typeof Button> {
  call: Call
  send: SendOptions<Result>
  /** Label while it is sending. */
  sendingLabel?: string
}

/** A button that sends a request. */
export function SendButton<Result>({ call, send, sendingLabel, disabled, children, ...rest }: SendButtonProps<Result>) {
  const { mutate, isPending } = useSend<Result>(send)
  return (
    <Button {...rest} disabled={isPending || disabled} onClick={() => mutate(call)}>
      {isPending ? (sendingLabel ?? children) : children}
    </Button>
  )
}

interface PauseButtonProps {
  name: string
  /** API path of the resource. */
  path: string
  isPaused: boolean
  invalidates: readonly string[]
}

/** Pauses or resumes a resource. */
export function PauseButton({ name, path, isPaused, invalidates }: PauseButtonProps) {
  const verb = (paused: boolean) => ({ method: 'POST', path: `${path}/${paused ? 'pause' : 'resume'}` }) as const
  return (
    <SendButton
      icon={isPaused ? CirclePlay : CirclePause}
      call={verb(!isPaused)}
      send={{ toast: `${name} ${isPaused ? 'resumed' : 'paused'}`, undo: () => verb(isPaused), invalidates }}
    >
      {isPaused ? 'Resume' : 'Pause'}
    </SendButton>
  )
}
