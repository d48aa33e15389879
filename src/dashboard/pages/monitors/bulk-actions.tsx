import { Play } from 'lucide-react'
import { useState } from 'react'
import type { MonitorView } from '../../../features/monitors/shapes'
import { call } from '../../client'
import { BulkDelete, BulkPause, BulkTags, type Selection } from '../../parts/bulk'
import { Button } from '../../parts/button'
import { pluralize } from '../../parts/plural'
import { toast } from '../../parts/toast'

interface BulkActionsProps {
  /** The selected monitors that are in the list. */
  selected: readonly MonitorView[]
  onSuccess(): void
}

const maxChecked = 20
const invalidates = ['/monitors']

/** Bulk actions for the selected monitors, applied to all or none. */
export function BulkActions({ selected, onSuccess }: BulkActionsProps) {
  const of: Selection<MonitorView> = {
    rows: selected,
    path: '/monitors/bulk',
    nouns: ['monitor', 'monitors'],
    invalidates,
    onSuccess,
  }
  const checked = selected.filter(one => one.type !== 'group' && one.status !== 'paused').slice(0, maxChecked)
  const [isChecking, setChecking] = useState(false)
  const check = async () => {
    setChecking(true)
    try {
      await Promise.all(checked.map(one => call({ method: 'POST', path: `/monitors/${one.id}/check` })))
      toast.success(`${pluralize(checked.length, 'monitor', 'monitors')} checked`)
    } catch (error) {
      toast.error(error)
    } finally {
      setChecking(false)
    }
  }
  return (
    <>
      {checked.length > 0 && (
        <Button small icon={Play} onClick={() => void check()} disabled={isChecking}>
          Check now{checked.length < selected.length ? ` (${checked.length})` : ''}
        </Button>
      )}
      <BulkPause of={of} />
      <BulkTags of={of} />
      <BulkDelete
        of={of}
        text="This deletes their check results, uptime, and history. Members of deleted groups are kept. This can’t be undone."
      />
    </>
  )
}
