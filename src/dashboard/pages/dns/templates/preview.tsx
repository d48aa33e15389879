import type { PreviewView } from '../../../../features/dns/templates/binding-shapes'
import { Status, Tag, humanize, type Tone } from '../../../parts/status'
import { RrsetChanges } from '../rrset-diff'
import { Reasons } from '../sync/reasons'

const moods: Record<PreviewView['records'][number]['outcome'], Tone> = {
  create: 'ok',
  keep: 'idle',
  merge: 'ok',
  replace: 'warn',
  skip: 'idle',
  keep_modified: 'idle',
  conflict: 'bad',
}

/** Preview of a template: the outcome of each record, then the changes by name and type. */
export const Preview = ({ preview }: { preview: PreviewView }) => (
  <div className="flex flex-col gap-4">
    {!preview.applicable && (
      <p role="alert" className="rounded-md bg-bad-soft p-3 text-bad">
        The template can’t be applied because of conflicting records.
      </p>
    )}
    {preview.blocked.length > 0 && <Reasons reasons={preview.blocked} />}
    {preview.warnings.map(one => (
      <p key={`${one.rule} ${one.name} ${one.type}`} className="rounded-md bg-warn-soft p-3 text-warn">
        {one.detail}
      </p>
    ))}
    <ul className="divide-y divide-line rounded-md border border-line">
      {preview.records.map(one => (
        <li key={one.record_index} className="flex flex-wrap items-baseline gap-x-2 gap-y-1 px-3 py-1.5">
          <Status status={one.outcome} tone={moods[one.outcome]} label={humanize(one.outcome)} />
          <code className="font-mono text-[13px] wrap-anywhere">{one.name}</code> <Tag>{one.type}</Tag>
          <code className="min-w-0 font-mono text-[13px] wrap-anywhere">{one.content}</code>
          {one.detail && <span className="w-full text-[13px] text-muted">{one.detail}</span>}
        </li>
      ))}
    </ul>
    {preview.changes.length === 0 ? (
      <p className="text-muted">No changes: the zone already has these records.</p>
    ) : (
      <RrsetChanges changes={preview.changes} afterLabel="New" />
    )}
  </div>
)
