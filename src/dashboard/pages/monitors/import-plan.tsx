import type { MonitoringChange, MonitoringImported } from '../../../features/monitors/exchange/shapes'
import { Card } from '../../parts/page'
import { Status, wordsOf } from '../../parts/status'

const words = { create: ['new', 'ok'], update: ['changed', 'warn'], delete: ['removed', 'bad'] } as const
const mostShown = 500

/** What an import would make different, member by member. */
export function ImportPlan({ plan }: { plan: MonitoringImported }) {
  return (
    <Card title={`${plan.created} new, ${plan.updated} changed, ${plan.deleted} removed, ${plan.unchanged} as they are`} flush>
      {plan.changes.length === 0 && <p className="p-4 text-muted">Everything is as the document says.</p>}
      <ul className="divide-y divide-line">
        {plan.changes.slice(0, mostShown).map((one, at) => (
          <Change key={at} change={one} />
        ))}
      </ul>
      {plan.changes.length > mostShown && (
        <p className="border-t border-line p-4 text-muted">And {(plan.changes.length - mostShown).toLocaleString()} more.</p>
      )}
    </Card>
  )
}

function Change({ change }: { change: MonitoringChange }) {
  const [label, mood] = words[change.op]
  const members = change.op === 'update' ? [...new Set([...Object.keys(change.before), ...Object.keys(change.after)])] : []
  return (
    <li className="px-4 py-2">
      <div className="flex flex-wrap items-center gap-2">
        <Status state={change.op} mood={mood} label={label} />
        <span className="font-medium wrap-anywhere">{change.name}</span>
        <span className="text-[13px] text-muted">{wordsOf(change.kind)}</span>
        {change.key && <code className="font-mono text-[13px] text-muted">{change.key}</code>}
      </div>
      {members.length > 0 && (
        <table className="mt-2 w-full table-fixed text-[13px]" aria-label={`What changes of ${change.name}`}>
          <thead className="sr-only">
            <tr>
              <th>Member</th>
              <th>Before</th>
              <th>After</th>
            </tr>
          </thead>
          <tbody>
            {members.map(member => (
              <tr key={member} className="align-top">
                <th scope="row" className="w-40 py-0.5 pr-2 text-left font-normal text-muted wrap-anywhere">
                  {member}
                </th>
                <td className="py-0.5 pr-2">
                  <Value value={change.before[member]} gone />
                </td>
                <td className="py-0.5">
                  <Value value={change.after[member]} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </li>
  )
}

function Value({ value, gone }: { value: unknown; gone?: boolean }) {
  const text = value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value)
  return (
    <code className={`rounded px-1 font-mono wrap-anywhere ${gone ? 'bg-bad-soft text-bad line-through' : 'bg-ok-soft text-ok'}`}>
      {text}
    </code>
  )
}
