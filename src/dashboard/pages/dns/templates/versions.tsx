import type { TemplateVersionView, TemplateView } from '../../../../features/dns/templates/shapes'
import { actorName } from '../../../parts/actor'
import { useUrlState } from '../../../parts/url-state'
import { Button } from '../../../parts/button'
import { Diff } from '../../../parts/diff'
import { Card } from '../../../parts/page'
import { Problem } from '../../../parts/problem'
import { SendButton } from '../../../parts/send-button'
import { RelativeTime } from '../../../parts/time'
import { useList } from '../../../queries'
import { usePerson } from '../../../session'
import { bodyOf, linesOf, valuesOf } from './template-values'

/** Versions of a template, compared with the current one. */
export function Versions({ template }: { template: TemplateView }) {
  const { canWrite } = usePerson()
  const path = `/dns/templates/${template.id}`
  const list = useList<TemplateVersionView>(`${path}/versions`)
  const [{ version }, set] = useUrlState({ version: '' })
  const selected = list.rows.find(one => String(one.version) === version)
  const save = (one: TemplateVersionView | TemplateView) => ({ method: 'PATCH', path, body: bodyOf(valuesOf(one)) }) as const
  return (
    <Card title="Versions" flush>
      {list.error && <Problem error={list.error} onRetry={list.retry} />}
      <ol className="divide-y divide-line">
        {list.rows.map(one => (
          <li key={one.version} className="px-4 py-2">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <span className="font-medium">Version {one.version}</span>
              <span className="grow text-[13px] text-muted">
                by {actorName(one.actor)}, <RelativeTime at={one.created_at} />
              </span>
              {one.version === template.version ? (
                <span className="text-[13px] text-muted">current</span>
              ) : (
                <Button
                  small
                  aria-expanded={one === selected}
                  onClick={() => set({ version: one === selected ? '' : String(one.version) })}
                >
                  {one === selected ? 'Close' : 'Compare with current'}
                </Button>
              )}
            </div>
            {one === selected && (
              <div className="mt-2 flex flex-col gap-2">
                <Diff
                  before={linesOf(one)}
                  after={linesOf(template)}
                  beforeLabel={`Version ${one.version}`}
                  afterLabel="Current version"
                />
                {canWrite && (
                  <div>
                    <SendButton
                      small
                      call={save(one)}
                      send={{
                        toast: 'Template version restored',
                        invalidates: ['/dns/templates'],
                        undo: () => save(template),
                      }}
                    >
                      Restore this version
                    </SendButton>
                  </div>
                )}
              </div>
            )}
          </li>
        ))}
      </ol>
    </Card>
  )
}
