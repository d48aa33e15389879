import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { ZoneView } from '../../../features/dns/zone-shapes'
import { call, type Call } from '../../client'
import { Dialog } from '../../parts/dialog'
import { AreaField, Form, More, NumberField, SelectField, TextField, useForm, WordsField, type Values } from '../../parts/form'
import { toast } from '../../parts/toast'
import { queries, staleAt, useOne } from '../../queries'
import { fromServer, ServerFields } from './server-fields'

type Provider = { id: string; name: string; kind: string }

/** Makes a zone, empty or with what is elsewhere. */
export const NewZone = ({ open, onClose }: { open: boolean; onClose(): void }) => (
  <Dialog open={open} onClose={onClose} title="New zone" wide>
    {open && <NewZoneForm onClose={onClose} />}
  </Dialog>
)

const begins = [
  ['empty', 'Nothing but its name servers'],
  ['file', 'A zone file'],
  ['server', 'Another name server, by transfer'],
  ['account', 'A provider that has it'],
  ['template', 'A template'],
] as const

function NewZoneForm({ onClose }: { onClose(): void }) {
  const navigate = useNavigate()
  const [made, setMade] = useState<ZoneView | null>(null)
  const [isPending, setPending] = useState(false)
  const providers = useOne<{ data: Provider[] }>('/dns/providers').data?.data ?? []
  const accounts = providers.filter(one => one.kind !== 'builtin')
  const send = async (asked: Call, values: Values) => {
    setPending(true)
    try {
      // Where what comes second is refused, the zone is there: it is not made again.
      const zone = made ?? (await call<ZoneView>(asked))
      setMade(zone)
      await staleAt(queries, '/dns/zones')
      const taking = takeIn(zone.id, values)
      if (taking) await call(taking)
      toast.done(`Zone ${zone.unicode_name} made`)
      void navigate({ to: values.begin === 'template' ? `/dns/zones/${zone.id}/templates` : `/dns/zones/${zone.id}` })
    } finally {
      setPending(false)
    }
  }
  let latest: Values = {}
  return (
    <Form
      initial={{
        name: '',
        provider_id: 'builtin',
        begin: 'empty',
        file: '',
        from_provider: accounts[0]?.id ?? '',
        nameservers: [],
        default_ttl: null,
        'server.host': '',
        'server.port': null,
        'key.name': '',
        'key.secret': '',
      }}
      call={values => {
        latest = values
        return made ? takeIn(made.id, values)! : { method: 'POST', path: '/dns/zones', body: bodyOf(values) }
      }}
      send={asked => send(asked, latest)}
      pending={isPending}
      onCancel={onClose}
      action={made ? 'Take it in' : 'Make the zone'}
    >
      <TextField name="name" label="Name" hint="Such as example.com. Unicode is fine." autoFocus mono disabled={made !== null} />
      <SelectField
        name="provider_id"
        label="Kept at"
        hint="More providers can be added in its settings."
        choices={providers.map(one => [one.id, one.kind === 'builtin' ? 'This hub, which serves it' : one.name] as const)}
      />
      <SelectField
        name="begin"
        label="Begin with"
        choices={begins.filter(([word]) => word !== 'account' || accounts.length > 0)}
      />
      <Source accounts={accounts} />
      <More label="Name servers and TTL" names={['nameservers', 'default_ttl']}>
        <WordsField
          name="nameservers"
          label="Name servers"
          hint="What its NS records name. Empty takes those of this installation."
        />
        <NumberField name="default_ttl" label="TTL of records without one" unit="seconds" min={0} placeholder="3600" />
      </More>
      {made && <p className="text-muted">The zone is made; what is to come into it was refused.</p>}
    </Form>
  )
}

function Source({ accounts }: { accounts: readonly Provider[] }) {
  const { values } = useForm()
  switch (values.begin) {
    case 'file':
      return <AreaField name="file" label="Zone file" rows={8} mono placeholder={'@ 3600 IN A 192.0.2.10\nwww CNAME @'} />
    case 'server':
      return <ServerFields />
    case 'account':
      return <SelectField name="from_provider" label="Provider" choices={accounts.map(one => [one.id, one.name] as const)} />
    case 'template':
      return <p className="text-muted">Which one, and its variables, comes next.</p>
    default:
      return null
  }
}

function bodyOf({ name, provider_id: provider, nameservers, default_ttl: ttl }: Values): Values {
  return {
    name,
    ...(provider !== 'builtin' && { provider_id: provider }),
    ...((nameservers as string[]).length > 0 && { nameservers }),
    ...(ttl !== null && { default_ttl: ttl }),
  }
}

/** What brings in what the zone begins with; null where it begins with nothing. */
function takeIn(id: string, values: Values): Call | null {
  const path = `/dns/zones/${id}/import`
  if (values.begin === 'file') return { method: 'POST', path, body: values.file as string, contentType: 'text/dns' }
  if (values.begin === 'server') return { method: 'POST', path: `${path}-from`, body: fromServer(values) }
  if (values.begin === 'account') return { method: 'POST', path: `${path}-from`, body: { provider_id: values.from_provider } }
  return null
}
