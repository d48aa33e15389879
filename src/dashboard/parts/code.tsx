import { Check, Copy } from 'lucide-react'
import { useRef, useState, type ReactNode } from 'react'

const feedbackMs = 1500

/** Copies a text. Browsers have no clipboard API over plain HTTP, so it falls back to selecting and copying the text. */
async function copyText(text: string, field: HTMLTextAreaElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    // As if the text had been selected and copied.
    field.dispatchEvent(new Event('copy', { bubbles: true }))
    return true
  } catch {
    field.select()
    return document.execCommand('copy')
  }
}

/** Copies a text when `copy` is called. `field` has to be rendered next to the button. */
export function useCopy(text: string): { outcome: 'Copied' | 'Couldn’t copy' | null; copy(): void; field: ReactNode } {
  const [outcome, setOutcome] = useState<'Copied' | 'Couldn’t copy' | null>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  return {
    outcome,
    copy: () =>
      void copyText(text, field.current!).then(isCopied => {
        setOutcome(isCopied ? 'Copied' : 'Couldn’t copy')
        setTimeout(() => setOutcome(null), feedbackMs)
      }),
    field: <textarea ref={field} value={text} readOnly tabIndex={-1} aria-hidden className="fixed top-0 -left-[200vw] size-px" />,
  }
}

interface CopyProps {
  text: string
  label?: string
  className?: string
}

/** A button that copies a text. */
export function CopyButton({ text, label = 'Copy', className = '' }: CopyProps) {
  const { outcome, copy, field } = useCopy(text)
  return (
    <>
      <button
        type="button"
        aria-label={label}
        title={label}
        className={`inline-flex size-7 shrink-0 items-center justify-center rounded text-muted hover:bg-hover hover:text-ink ${className}`}
        onClick={copy}
      >
        {outcome === 'Copied' ? <Check className="size-4 text-ok" aria-hidden /> : <Copy className="size-4" aria-hidden />}
        <span role="status" className="sr-only">
          {outcome}
        </span>
      </button>
      {field}
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

/** A short value with a copy button: a URL, an ID. */
export const CopyableText = ({ text, label }: { text: string; label?: string }) => (
  <span className="inline-flex max-w-full items-center gap-1">
    <code className="min-w-0 font-mono text-[13px] wrap-anywhere">{text}</code>
    <CopyButton text={text} {...(label && { label: `Copy ${label}` })} />
  </span>
)
