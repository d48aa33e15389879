import { pluralize } from '../parts/plural'
import { FileUp } from 'lucide-react'
import { useState, type DragEvent } from 'react'
import { useNavigate } from '@tanstack/react-router'
import type { MonitoringImportResult } from '../../features/monitors/exchange/shapes'
import { ApiError, type Call } from '../client'
import { ApiCall } from '../parts/api-call'
import { Button } from '../parts/button'
import { FileButton } from '../parts/files'
import { Checkbox, Textarea } from '../parts/input'
import { confirm } from '../parts/open-dialog'
import { Card, Page } from '../parts/page'
import { Problem } from '../parts/problem'
import { useSend, type SendOptions } from '../queries'
import { ImportPlan } from './monitors/import-plan'

const example = `version: 1
monitors:
  - key: shop
    name: Shop
    target: https://shop.example.com/
    interval_seconds: 30
    tags: [prod]
`

/** Imports a document after a preview of its changes. */
export default function ImportMonitors() {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [prune, setPrune] = useState(false)
  const [plan, setPlan] = useState<MonitoringImportResult | null>(null)
  const invalidates = ['/monitors', '/maintenance-windows']
  const preview = useSend<MonitoringImportResult>({ quiet: true, onSuccess: setPlan })
  const done: SendOptions<MonitoringImportResult> = {
    invalidates,
    toast: ({ created, updated, deleted }) => `${created} created, ${updated} updated, ${deleted} deleted`,
    onSuccess: () => void navigate({ to: '/monitors' }),
  }
  const apply = useSend(done)
  const importCall = (dryRun: boolean): Call => ({
    method: 'POST',
    path: '/monitoring/import',
    query: { dry_run: dryRun, prune },
    body: text,
    contentType: text.trimStart().startsWith('{') ? 'application/json' : 'application/yaml',
  })
  const confirmDeletions = (count: number) =>
    confirm({
      title: `Delete ${pluralize(count, 'resource that is', 'resources that are')} not in the document?`,
      text: 'Deleted monitors lose their history. All changes are applied together, or none.',
      action: 'Apply changes',
      typeToConfirm: String(count),
      call: importCall(false),
      send: done,
    })
  const update = (next: string) => {
    setText(next)
    setPlan(null)
  }
  const onDrop = (event: DragEvent) => {
    event.preventDefault()
    void event.dataTransfer.files[0]?.text().then(update)
  }
  const changes = plan?.changes.length ?? 0
  return (
    <Page
      parent="/monitors"
      description="Create and update monitors and maintenance windows from a YAML or JSON document. Nothing changes until you have reviewed and applied the changes."
    >
      <div className="flex flex-col gap-4">
        <Card>
          <div onDragOver={event => event.preventDefault()} onDrop={onDrop}>
            <label htmlFor="document" className="mb-1 block font-medium">
              Document
            </label>
            <Textarea id="document" rows={14} mono value={text} placeholder={example} onText={update} />
          </div>
          <div className="mt-3 flex flex-wrap items-center gap-3">
            <FileButton icon={FileUp} accept=".yaml,.yml,.json" onText={update} />
            <Checkbox
              checked={prune}
              onCheck={checked => {
                setPrune(checked)
                setPlan(null)
              }}
            >
              Delete resources that are not in the document
            </Checkbox>
            <span className="grow" />
            <ApiCall call={() => importCall(plan === null)} />
            <Button
              kind={plan ? 'secondary' : 'primary'}
              disabled={text.trim() === '' || preview.isPending}
              onClick={() => preview.mutate(importCall(true))}
            >
              {preview.isPending ? 'Loading…' : 'Preview changes'}
            </Button>
            {plan && (
              <Button
                kind="primary"
                disabled={changes === 0 || apply.isPending}
                onClick={() => (plan.deleted > 0 ? confirmDeletions(plan.deleted) : apply.mutate(importCall(false)))}
              >
                {changes === 0 ? 'No changes' : `Apply ${changes} ${changes === 1 ? 'change' : 'changes'}`}
              </Button>
            )}
          </div>
        </Card>
        {preview.error instanceof ApiError && !plan && <Problem error={preview.error} />}
        {plan && <ImportPlan plan={plan} />}
      </div>
    </Page>
  )
}
