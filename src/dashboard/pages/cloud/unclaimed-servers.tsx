import { Server } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { CloudAccountView } from '../../../features/servers/accounts/shapes'
import type { UnclaimedServerView } from '../../../features/servers/accounts/unclaimed-shapes'
import { Button } from '../../parts/button'
import { Empty } from '../../parts/empty'
import { Card } from '../../parts/page'
import { pluralize } from '../../parts/plural'
import { SendButton } from '../../parts/send-button'
import { Status, Tags } from '../../parts/status'
import { staticList, Table, type Column } from '../../parts/table'
import { useSend } from '../../queries'
import { usePerson } from '../../session'
import { invalidates } from './accounts'
import { labelsText, toneOfServer } from './server-text'

const columns: readonly Column<UnclaimedServerView>[] = [
  { title: 'Name', look: 'strong', render: one => one.name },
  { title: 'Status', width: '9rem', render: one => <Status status={one.status} tone={toneOfServer(one.status)} /> },
  { title: 'Addresses', look: 'mono', onPhone: 'line', render: one => one.addresses.slice(0, 2).join(', ') },
  { title: 'Location', width: '8rem', showFrom: 'lg', render: one => one.location },
  { title: 'Size', width: '8rem', showFrom: 'lg', render: one => one.size },
  {
    title: 'Labels',
    showFrom: 'xl',
    onPhone: 'line',
    render: one => <Tags tags={Object.entries(one.labels).map(([key, value]) => labelsText({ [key]: value }))} />,
  },
]

/** Servers of an account that are not in the workspace. They are read at the cloud when the user wants to see them. */
export function UnclaimedServers({ account: { id, counts } }: { account: CloudAccountView }) {
  const { canWrite } = usePerson()
  const path = `/cloud-accounts/${id}`
  const [rows, setRows] = useState<readonly UnclaimedServerView[] | null>(null)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const read = useSend<{ data: UnclaimedServerView[] }>({ onSuccess: ({ data }) => setRows(data) })
  const refs = [...selected]
  const added = () => {
    setRows(rows => rows?.filter(one => !selected.has(one.ref)) ?? null)
    setSelected(new Set())
  }
  // As many as a request can name.
  useEffect(() => {
    if (selected.size > maxClaimed) setSelected(new Set([...selected].slice(0, maxClaimed)))
  }, [selected])
  return (
    <Card
      title="Servers that are not in the workspace"
      className="lg:col-span-2"
      flush={rows !== null}
      actions={
        rows !== null &&
        canWrite && (
          <SendButton
            small
            kind="primary"
            disabled={refs.length === 0}
            call={{ method: 'POST', path: `${path}/claim`, body: { refs } }}
            send={{ toast: `${pluralize(refs.length, 'server', 'servers')} added`, invalidates, onSuccess: added }}
            sendingLabel="Adding…"
          >
            {refs.length === 0 ? 'Add' : `Add ${pluralize(refs.length, 'server', 'servers')}`}
          </SendButton>
        )
      }
    >
      {rows === null ? (
        <div className="flex flex-wrap items-center gap-3">
          <p className="min-w-60 grow text-muted">
            The account has {pluralize(counts.unclaimed, 'server', 'servers')} that you haven’t added. Adding a server changes
            nothing at the cloud.
          </p>
          <Button disabled={read.isPending} onClick={() => read.mutate({ method: 'GET', path: `${path}/unclaimed` })}>
            {read.isPending ? 'Loading…' : 'Show servers'}
          </Button>
        </div>
      ) : (
        <Table
          label="Servers that are not in the workspace"
          columns={columns}
          list={staticList(rows)}
          idOf={one => one.ref}
          {...(canWrite && { selected, onSelect: setSelected })}
          empty={<Empty icon={Server} title="All servers are in the workspace" />}
        />
      )}
    </Card>
  )
}

const maxClaimed = 50
