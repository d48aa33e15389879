import type { MemberView } from '../../../features/people/members/shapes'
import type { Page as Listing } from '../../client'
import { SelectField } from '../../parts/form'
import { useOne } from '../../queries'
import { usePerson } from '../../session'

/** Selects the member an incident is assigned to. @param current who it is assigned to now, even if no longer a member */
export function Assignee({ current }: { current: string | null }) {
  const { canReadAccount } = usePerson()
  const members = useOne<Listing<MemberView>>(canReadAccount ? '/members' : null, { limit: 100 }).data?.data ?? []
  return (
    <SelectField
      name="assignee_id"
      label="Assignee"
      choices={[
        ['', 'Unassigned'],
        ...members.map(one => [one.id, one.name] as const),
        ...(current && !members.some(one => one.id === current) ? [[current, current] as const] : []),
      ]}
    />
  )
}
