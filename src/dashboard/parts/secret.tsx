import { useBlocker } from '@tanstack/react-router'
import { Check, Copy, Download } from 'lucide-react'
import { useRef, useState, type ReactNode } from 'react'
import { Button } from './button'
import { useCopy } from './code'
import { saveFile } from './files'
import { closeDialog, openDialog } from './open-dialog'

interface SecretProps {
  /** Undefined in the response to a repeated request. */
  value: string | undefined
  /** What it is, and for what: `token deploy`. Names the downloaded file. */
  file: string
  /** Whether the value was also sent by other means, so that it can be closed without copying. */
  isSent?: boolean
  /** Below the value. */
  more?: ReactNode
  /** How to use it. Below the buttons, which stay visible without scrolling. */
  usage?: ReactNode
  onClose?(): void
}

interface SecretDialog extends SecretProps {
  title: string
  description: string
  wide?: boolean
}

/**
 * Shows a value that is shown only once. Only its button closes the dialog, and asks for confirmation if the value was neither copied nor
 * downloaded.
 */
export function showSecret({ title, description, wide = false, ...secret }: SecretDialog): void {
  if (secret.value === undefined) return secret.onClose?.()
  openDialog({ title, description, wide, isPersistent: true, content: <Secret {...secret} value={secret.value} /> })
}

function Secret({ value, file, isSent = false, more, usage, onClose }: SecretProps & { value: string }) {
  const [isSaved, setSaved] = useState(isSent)
  const [asks, setAsks] = useState(false)
  const isClosing = useRef(false)
  const { outcome, copy, field } = useCopy(value)
  // Also asks before the page is left, such as with the Back button.
  useBlocker({
    shouldBlockFn() {
      if (isSaved || isClosing.current) return false
      setAsks(true)
      return true
    },
    enableBeforeUnload: () => !isSaved,
  })
  const close = () => {
    isClosing.current = true
    closeDialog()
    onClose?.()
  }
  const download = () => {
    saveFile(`${value}\n`, `bailiwick-${file.toLowerCase().replace(/[^a-z0-9@.]+/g, '-')}.txt`, 'text/plain')
    setSaved(true)
  }
  return (
    <div className="flex flex-col gap-4" onCopy={() => setSaved(true)}>
      <pre className="rounded-md border border-line bg-canvas p-3 font-mono text-[13px] leading-5 wrap-anywhere whitespace-pre-wrap">
        <code>{value}</code>
      </pre>
      {field}
      {more}
      {asks && !isSaved && (
        <p role="alert" className="rounded-md bg-warn-soft p-3 text-warn">
          Close without copying? It can’t be shown again.
        </p>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        <Button kind={isSaved ? 'secondary' : 'primary'} icon={outcome === 'Copied' ? Check : Copy} onClick={copy}>
          <span aria-live="polite">{outcome ?? 'Copy'}</span>
        </Button>
        <Button icon={Download} onClick={download}>
          Download
        </Button>
        <span className="grow" />
        {asks && !isSaved ? (
          <Button kind="danger" onClick={close}>
            Close without copying
          </Button>
        ) : (
          <Button kind={isSaved ? 'primary' : 'secondary'} onClick={isSaved ? close : () => setAsks(true)}>
            Done
          </Button>
        )}
      </div>
      {usage && <div className="flex flex-col gap-4 border-t border-line pt-4">{usage}</div>}
    </div>
  )
}
