import type { PreviewView } from '../../../../features/dns/templates/binding-shapes'
import { Status, Tag, wordsOf, type Mood } from '../../../parts/status'
import { RrsetDiff, RrsetName } from '../rrset-diff'
import { Reasons } from '../sync/reasons'

const moods: Record<PreviewView['records'][number]['outcome'], Mood> = {
  create: 'ok',
  keep: 'idle',
  merge: 'ok',
  replace: 'warn',
  skip: 'idle',
  left: 'idle',
  conflict: 'bad',
}

/** What a template would change in a zone: record by record, and then name by name. */
export const Preview = ({ would }: { would: PreviewView }) => (
  <div className="flex flex-col gap-4">
    {!would.applicable && (
      <p role="alert" className="rounded-md bg-bad-soft p-3 text-bad">
        It cannot be applied: something else is where a record is to be, and the template says «fail» there.
      </p>
    )}
    {would.blocked.length > 0 && <Reasons reasons={would.blocked} />}
    {would.warnings.map(one => (
      <p key={`${one.rule} ${one.name} ${one.type}`} className="rounded-md bg-warn-soft p-3 text-warn">
        {one.detail}
      </p>
    ))}
    <ul className="divide-y divide-line rounded-md border border-line">
      {would.records.map(one => (
        <li key={one.record} className="flex flex-wrap items-baseline gap-x-2 gap-y-1 px-3 py-1.5">
          <Status state={one.outcome} mood={moods[one.outcome]} label={wordsOf(one.outcome)} />
          <code className="font-mono text-[13px] wrap-anywhere">{one.name}</code> <Tag>{one.type}</Tag>
          <code className="min-w-0 font-mono text-[13px] wrap-anywhere">{one.content}</code>
          {one.detail && <span className="w-full text-[13px] text-muted">{one.detail}</span>}
        </li>
      ))}
    </ul>
    {would.changes.length === 0 ? (
      <p className="text-muted">Nothing would change: it is all there already.</p>
    ) : (
      <ul className="flex flex-col gap-3">
        {would.changes.map(one => (
          <li key={`${one.name} ${one.type}`} className="min-w-0">
            <p className="mb-1">
              <RrsetName {...one} />
            </p>
            <RrsetDiff before={one.before} after={one.after} beforeLabel="As it is" afterLabel="As it would be" />
          </li>
        ))}
      </ul>
    )}
  </div>
)
