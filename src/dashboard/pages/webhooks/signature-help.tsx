import { useUrlState } from '../../parts/url-state'
import { Code } from '../../parts/code'
import { Card } from '../../parts/page'
import handbook from '../../../docs/webhooks.md?raw'
import { snippetsIn } from './snippets'

const snippets = snippetsIn(handbook)

/** Shows how to verify signatures in five languages. The snippets come from the handbook and are tested. */
export default function SignatureHelp() {
  const [{ language }, set] = useUrlState({ language: snippets[0]!.language })
  const shown = snippets.find(one => one.language === language) ?? snippets[0]!
  return (
    <Card title="Verify signatures" className="max-w-4xl">
      <p className="mb-3 max-w-prose text-muted">
        The secret is <code className="font-mono">whsec_</code> followed by Base64. Verify{' '}
        <code className="font-mono">webhook-signature</code> over the raw request body, before parsing it. You can also use the{' '}
        <a className="text-accent underline" href="https://www.standardwebhooks.com/" rel="noreferrer">
          Standard Webhooks
        </a>{' '}
        libraries.
      </p>
      <div role="group" aria-label="Language" className="mb-3 flex flex-wrap gap-1">
        {snippets.map(one => (
          <button
            key={one.language}
            type="button"
            aria-pressed={one === shown}
            onClick={() => set({ language: one.language })}
            className="rounded-md px-2.5 py-1 text-muted hover:bg-hover aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
          >
            {one.title}
          </button>
        ))}
      </div>
      <Code label={shown.title} text={shown.code} />
    </Card>
  )
}
