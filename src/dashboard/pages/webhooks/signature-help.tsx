import { useUrlState } from '../../parts/url-state'
import { Code } from '../../parts/code'
import { Card } from '../../parts/page'
import { ToggleGroup } from '../../parts/toggle-group'
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
        libraries. The handbook has{' '}
        <a className="text-accent underline" href="/docs/webhook-receivers">
          complete receivers
        </a>
        .
      </p>
      <ToggleGroup
        label="Language"
        value={shown.language}
        onChange={language => set({ language })}
        choices={snippets.map(one => [one.language, one.title] as const)}
        className="mb-3"
      />
      <Code label={shown.title} text={shown.code} />
    </Card>
  )
}
