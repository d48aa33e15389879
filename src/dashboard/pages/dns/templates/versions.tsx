import type { TemplateVersionView, TemplateView } from '../../../../features/dns/templates/shapes'
import { useAddress } from '../../../parts/address'
import { Button } from '../../../parts/button'
import { Diff } from '../../../parts/diff'
import { Card } from '../../../parts/page'
import { Problem } from '../../../parts/problem'
import { Ago } from '../../../parts/time'
import { useList, useSend } from '../../../queries'
import { usePerson } from '../../../session'
import { bodyOf, linesOf, valuesOf } from './template-values'

/** How a template was after each edit, beside how it is now. */
export function Versions({ template }: { template: TemplateView }) {
  const { mayWrite } = usePerson()
  const path = `/dns/templates/${template.id}`
  const list = useList<TemplateVersionView>(`${path}/versions`)
  const [{ version }, set] = useAddress({ version: '' })
  const chosen = list.rows.find(one => String(one.version) === version)
  const back = useSend<TemplateView>({
    done: 'The template is as it was',
    stale: ['/dns/templates'],
    undo: () => ({ method: 'PATCH', path, body: bodyOf(valuesOf(template)) }),
  })
  return (
    <Card title="Versions" flush>
      {list.error && <Problem error={list.error} onAgain={list.again} />}
      <ol className="divide-y divide-line">
        {list.rows.map(one => (
          <li key={one.version} className="px-4 py-2">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <span className="font-medium">Version {one.version}</span>
              <span className="grow text-[13px] text-muted">
                by {one.actor.name ?? one.actor.type}, <Ago at={one.created_at} />
              </span>
              {one.version === template.version ? (
                <span className="text-[13px] text-muted">as it is now</span>
              ) : (
                <Button
                  small
                  aria-expanded={one === chosen}
                  onClick={() => set({ version: one === chosen ? '' : String(one.version) })}
                >
                  {one === chosen ? 'Close' : 'Compare with now'}
                </Button>
              )}
            </div>
            {one === chosen && (
              <div className="mt-2 flex flex-col gap-2">
                <Diff
                  before={linesOf(one)}
                  after={linesOf(template)}
                  beforeLabel={`Version ${one.version}`}
                  afterLabel="As it is now"
                />
                {mayWrite && (
                  <div>
                    <Button
                      small
                      disabled={back.isPending}
                      onClick={() => back.mutate({ method: 'PATCH', path, body: bodyOf(valuesOf(one)) })}
                    >
                      Make it so again
                    </Button>
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
