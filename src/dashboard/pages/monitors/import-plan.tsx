import type { MonitoringChange, MonitoringImportResult } from '../../../features/monitors/exchange/shapes'
import { Card } from '../../parts/page'
import { Status, humanize } from '../../parts/status'

const words = { create: ['create', 'ok'], update: ['update', 'warn'], delete: ['delete', 'bad'] } as const
const maxShown = 500

/** The changes an import would make, field by field. */
export const ImportPlan = ({ plan }: { plan: MonitoringImportResult }) => (
  <Card
    title={`${plan.created} to create, ${plan.updated} to update, ${plan.deleted} to delete, ${plan.unchanged} unchanged`}
    flush
  >
    {plan.changes.length === 0 && <p className="p-4 text-muted">No changes: your monitors already match the document.</p>}
    <ul className="divide-y divide-line">
      {plan.changes.slice(0, maxShown).map((one, at) => (
        <Change key={at} change={one} />
      ))}
    </ul>
    {plan.changes.length > maxShown && (
      <p className="border-t border-line p-4 text-muted">And {(plan.changes.length - maxShown).toLocaleString()} more.</p>
    )}
  </Card>
)

function Change({ change }: { change: MonitoringChange }) {
  const [label, tone] = words[change.op]
  const fields = change.op === 'update' ? [...new Set([...Object.keys(change.before), ...Object.keys(change.after)])] : []
  return (
    <li className="px-4 py-2">
      <div className="flex flex-wrap items-center gap-2">
        <Status status={change.op} tone={tone} label={label} />
        <span className="font-medium wrap-anywhere">{change.name}</span>
        <span className="text-[13px] text-muted">{humanize(change.kind)}</span>
        {change.key && <code className="font-mono text-[13px] text-muted">{change.key}</code>}
      </div>
      {fields.length > 0 && (
        <table className="mt-2 w-full table-fixed text-[13px]" aria-label={`Changes to ${change.name}`}>
          <thead className="sr-only">
            <tr>
              <th>Field</th>
              <th>Before</th>
              <th>After</th>
            </tr>
          </thead>
          <tbody>
            {fields.map(field => (
              <tr key={field} className="align-top">
                <th scope="row" className="w-40 py-0.5 pr-2 text-left font-normal text-muted wrap-anywhere">
                  {field}
                </th>
                <td className="py-0.5 pr-2">
                  <Value value={change.before[field]} isOld />
                </td>
                <td className="py-0.5">
                  <Value value={change.after[field]} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </li>
  )
}

function Value({ value, isOld }: { value: unknown; isOld?: boolean }) {
  const text = value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value)
  return (
    <code
      className={`rounded px-1 font-mono wrap-anywhere ${isOld ? 'bg-bad-soft text-bad line-through' : 'bg-ok-soft text-ok'}`}
    >
      {text}
    </code>
  )
}
