import { Check, Copy } from 'lucide-react'
import { useRef, useState, type ReactNode } from 'react'

const feedbackMs = 1500

/** Copies a text. Browsers have no clipboard API over plain HTTP, so it falls back to selecting and copying the text. */
async function copy(text: string, field: HTMLTextAreaElement | null): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  field?.select()
  document.execCommand('copy')
}

interface CopyProps {
  text: string
  label?: string
  className?: string
}

/** A button that copies a text. */
export function CopyButton({ text, label = 'Copy', className = '' }: CopyProps) {
  const [copied, setCopied] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  return (
    <>
      <button
        type="button"
        aria-label={label}
        title={label}
        className={`inline-flex size-7 shrink-0 items-center justify-center rounded text-muted hover:bg-hover hover:text-ink ${className}`}
        onClick={() => {
          void copy(text, field.current).then(() => {
            setCopied(true)
            setTimeout(() => setCopied(false), feedbackMs)
          })
        }}
      >
        {copied ? <Check className="size-4 text-ok" aria-hidden /> : <Copy className="size-4" aria-hidden />}
        <span role="status" className="sr-only">
          {copied ? 'Copied' : ''}
        </span>
      </button>
      <textarea ref={field} value={text} readOnly tabIndex={-1} aria-hidden className="fixed top-0 -left-[200vw] size-px" />
    </>
  )
}

interface CodeProps {
  text: string
  /** Caption, also for screen readers. */
  label?: string
  /** Wraps long lines instead of scrolling. */
  wrap?: boolean
}

/** A code block with a copy button. */
export const Code = ({ text, label, wrap }: CodeProps) => (
  <figure className="min-w-0 overflow-clip rounded-md border border-line bg-canvas">
    <figcaption className="flex items-center border-b border-line py-0.5 pr-1 pl-3 text-[13px] text-muted">
      <span className="grow">{label}</span>
      <CopyButton text={text} label={label ? `Copy ${label}` : 'Copy'} />
    </figcaption>
    <pre
      tabIndex={0}
      className={`max-h-96 overflow-auto p-3 font-mono text-[13px] leading-5 ${wrap ? 'wrap-anywhere whitespace-pre-wrap' : ''}`}
    >
      {text}
    </pre>
  </figure>
)

/** A short technical value: a name, an address, an ID. */
export const Mono = ({ children, title }: { children: ReactNode; title?: string }) => (
  <code className="font-mono text-[13px]" title={title}>
    {children}
  </code>
)

/** A short value with a copy button: a URL, an ID, a secret that is shown only once. */
export const CopyableText = ({ text, label }: { text: string; label?: string }) => (
  <span className="inline-flex max-w-full items-center gap-1">
    <code className="min-w-0 truncate font-mono text-[13px]" title={text}>
      {text}
    </code>
    <CopyButton text={text} {...(label && { label: `Copy ${label}` })} />
  </span>
)
