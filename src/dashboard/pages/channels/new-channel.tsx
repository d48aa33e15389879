import { useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import type { NotificationChannelKindView, NotificationChannelView } from '../../../features/notifications/shapes'
import { useAddress } from '../../parts/address'
import { FieldFrame, Form, TextField, useForm } from '../../parts/form'
import { Card, Loaded, Page } from '../../parts/page'
import { OptionFields, schemasOf } from '../../parts/option-fields'
import { useOne, useSend } from '../../queries'
import { channelBody, channelValues, settingValues } from './channel-values'
import { TakesFields } from './takes-fields'
import { TrySettings } from './try-settings'

const up = { to: '/channels', label: 'Channels' }

/** Makes a channel: of which kind, where to, and what it takes. */
export default function NewChannel() {
  const kinds = useOne<{ data: NotificationChannelKindView[] }>('/notification-channels/kinds')
  return (
    <Loaded found={kinds} up={up}>
      {({ data }) => <Made kinds={data} />}
    </Loaded>
  )
}

function Made({ kinds }: { kinds: readonly NotificationChannelKindView[] }) {
  const navigate = useNavigate()
  const [{ kind: word }] = useAddress({ kind: kinds[0]!.kind })
  const first = kinds.find(one => one.kind === word) ?? kinds[0]!
  const chosen = useRef(first)
  const send = useSend<NotificationChannelView>({
    quiet: true,
    done: made => `Made ${made.name}`,
    stale: ['/notification-channels'],
    onDone: made => void navigate({ to: '/channels/$id', params: { id: made.id } }),
  })
  return (
    <Page title="New channel" up={up} lead="Choose how people are told, and send a test before you save it.">
      <Card className="max-w-3xl">
        <Form
          initial={{ ...channelValues(null), ...settingValues(first), kind: first.kind }}
          call={values => ({ method: 'POST', path: '/notification-channels', body: channelBody(chosen.current, values, null) })}
          send={send.mutateAsync}
          pending={send.isPending}
          onCancel={() => void navigate({ to: '/channels' })}
          action="Make the channel"
        >
          <Fields kinds={kinds} chosen={chosen} />
        </Form>
      </Card>
    </Page>
  )
}

interface FieldsProps {
  kinds: readonly NotificationChannelKindView[]
  /** The kind that is chosen, for what is sent. */
  chosen: React.RefObject<NotificationChannelKindView>
}

function Fields({ kinds, chosen }: FieldsProps) {
  const { values, set } = useForm()
  const kind = kinds.find(one => one.kind === values.kind)!
  chosen.current = kind
  return (
    <>
      <FieldFrame name="kind" label="Kind">
        {attributes => (
          <div {...attributes} role="radiogroup" aria-label="Kind" className="grid grid-cols-2 gap-2 sm:grid-cols-3">
            {kinds.map(one => (
              <label
                key={one.kind}
                className="flex items-center gap-2 rounded-md border border-line px-3 py-2 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft"
              >
                <input
                  type="radio"
                  name="kind"
                  checked={one === kind}
                  onChange={() => set({ kind: one.kind, ...settingValues(one) })}
                />
                {one.title}
              </label>
            ))}
          </div>
        )}
      </FieldFrame>
      <TextField name="name" label="Name" placeholder="Phone of the one on duty" />
      <OptionFields key={kind.kind} at="settings" schemas={schemasOf(kind.settings)} secrets={kind.secrets} />
      <TrySettings kind={kind} />
      <TakesFields />
    </>
  )
}
