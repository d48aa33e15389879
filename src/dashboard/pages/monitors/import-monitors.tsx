import { FileUp } from 'lucide-react'
import { useState, type DragEvent } from 'react'
import { useNavigate } from '@tanstack/react-router'
import type { MonitoringImported } from '../../../features/monitors/exchange/shapes'
import { Refused, type Call } from '../../client'
import { ApiCall } from '../../parts/api-calls'
import { Button } from '../../parts/button'
import { Confirm } from '../../parts/dialog'
import { inputLook } from '../../parts/form'
import { Card, Page } from '../../parts/page'
import { Problem } from '../../parts/problem'
import { useSend } from '../../queries'
import { ImportPlan } from './import-plan'

const example = `version: 1
monitors:
  - key: shop
    name: Shop
    target: https://shop.example.com/
    interval_seconds: 30
    tags: [prod]
`

/** Makes monitors what a document says: what would change is shown first. */
export default function ImportMonitors() {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [prune, setPrune] = useState(false)
  const [plan, setPlan] = useState<MonitoringImported | null>(null)
  const [isAsking, setAsking] = useState(false)
  const stale = ['/monitors', '/maintenance-windows']
  const look = useSend<MonitoringImported>({ quiet: true, onDone: setPlan })
  const apply = useSend<MonitoringImported>({
    stale,
    done: done => `Made ${done.created}, edited ${done.updated}, deleted ${done.deleted}`,
    onDone: () => void navigate({ to: '/monitors' }),
  })
  const asked = (dryRun: boolean): Call => ({
    method: 'POST',
    path: '/monitoring/import',
    query: { dry_run: dryRun, prune },
    body: text,
    contentType: text.trimStart().startsWith('{') ? 'application/json' : 'application/yaml',
  })
  const put = (next: string) => {
    setText(next)
    setPlan(null)
  }
  const dropped = (event: DragEvent) => {
    event.preventDefault()
    void event.dataTransfer.files[0]?.text().then(put)
  }
  const changes = plan?.changes.length ?? 0
  return (
    <Page
      title="Import monitors"
      up={{ to: '/monitors', label: 'Monitors' }}
      lead="A document of YAML or JSON says what is watched. What would change is shown first."
    >
      <div className="flex flex-col gap-4">
        <Card>
          <div onDragOver={event => event.preventDefault()} onDrop={dropped}>
            <label htmlFor="document" className="mb-1 block font-medium">
              Document
            </label>
            <textarea
              id="document"
              rows={14}
              spellCheck={false}
              value={text}
              placeholder={example}
              onChange={event => put(event.target.value)}
              className={`py-1.5 font-mono text-[13px] ${inputLook}`}
            />
          </div>
          <div className="mt-3 flex flex-wrap items-center gap-3">
            <label className="inline-flex h-9 cursor-pointer items-center gap-1.5 rounded-md border border-line px-3 font-medium focus-within:outline-2 focus-within:outline-accent hover:bg-hover">
              <FileUp className="size-4" aria-hidden />
              Choose a file
              <input
                type="file"
                accept=".yaml,.yml,.json"
                className="sr-only"
                onChange={event => void event.target.files?.[0]?.text().then(put)}
              />
            </label>
            <label className="inline-flex items-center gap-2">
              <input
                type="checkbox"
                checked={prune}
                onChange={event => {
                  setPrune(event.target.checked)
                  setPlan(null)
                }}
              />
              Delete what the document does not have
            </label>
            <span className="grow" />
            <ApiCall call={() => asked(plan === null)} />
            <Button
              kind={plan ? 'plain' : 'main'}
              disabled={text.trim() === '' || look.isPending}
              onClick={() => look.mutate(asked(true))}
            >
              {look.isPending ? 'Looking…' : 'See what would change'}
            </Button>
            {plan && (
              <Button
                kind="main"
                disabled={changes === 0 || apply.isPending}
                onClick={() => (plan.deleted > 0 ? setAsking(true) : apply.mutate(asked(false)))}
              >
                {changes === 0 ? 'Nothing to do' : `Apply ${changes} ${changes === 1 ? 'change' : 'changes'}`}
              </Button>
            )}
          </div>
        </Card>
        {look.error instanceof Refused && !plan && <Problem error={look.error} />}
        {plan && <ImportPlan plan={plan} />}
      </div>
      <Confirm
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Delete ${plan?.deleted ?? 0} that the document does not have?`}
        action="Apply"
        typed={String(plan?.deleted ?? 0)}
        pending={apply.isPending}
        onConfirm={() => apply.mutate(asked(false))}
      >
        What is deleted is gone with its history. Everything is done together, or nothing.
      </Confirm>
    </Page>
  )
}
