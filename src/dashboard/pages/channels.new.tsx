import { Link } from '@tanstack/react-router'
import { useRef } from 'react'
import type { NotificationChannelKindView } from '../../features/notifications/shapes'
import { useUrlState } from '../parts/url-state'
import { CreatePage } from '../parts/edit-page'
import { FieldFrame, TextField, useForm } from '../parts/form'
import { Loaded } from '../parts/page'
import { settingValues } from '../parts/adapter-settings'
import { displayTimezone } from '../parts/timezone'
import { useOne } from '../queries'
import { ChannelSettings } from './channels/channel-settings'
import { channelBody, channelValues } from './channels/channel-values'
import { AlertFields } from './channels/alert-fields'
import { TestSettings } from './channels/test-settings'

/** Form to create a channel. */
export default function NewChannel() {
  const kinds = useOne<{ data: NotificationChannelKindView[] }>('/notification-channels/kinds')
  return (
    <Loaded query={kinds} parent="/channels">
      {({ data }) => <NewChannelForm kinds={data} />}
    </Loaded>
  )
}

function NewChannelForm({ kinds }: { kinds: readonly NotificationChannelKindView[] }) {
  const [{ kind: kindName }] = useUrlState({ kind: kinds[0]!.kind })
  const first = kinds.find(one => one.kind === kindName) ?? kinds[0]!
  const chosen = useRef(first)
  return (
    <CreatePage
      parent="/channels"
      page="/channels/$id"
      path="/notification-channels"
      invalidates={['/notification-channels']}
      description="Choose where to send alerts. You can send a test message before saving."
      initial={{ ...channelValues(null), ...newSettings(first), kind: first.kind }}
      bodyOf={values => channelBody(chosen.current, values, null)}
    >
      <Fields kinds={kinds} chosen={chosen} />
    </CreatePage>
  )
}

/** The defaults of a kind. The creator most likely lives in the time zone of the readers. */
const newSettings = (kind: NotificationChannelKindView) => settingValues(kind, { timezone: displayTimezone() })

interface FieldsProps {
  kinds: readonly NotificationChannelKindView[]
  /** The selected kind, used to build the request. */
  chosen: React.RefObject<NotificationChannelKindView>
}

function Fields({ kinds, chosen }: FieldsProps) {
  const { values, set } = useForm()
  const kind = kinds.find(one => one.kind === values.kind)!
  chosen.current = kind
  return (
    <>
      <FieldFrame
        name="kind"
        label="Type"
        hint={
          kind.kind === 'webhook' && (
            <>
              Sends alerts to any service that accepts HTTP requests. To receive all kinds of events in your own program, as
              signed messages,{' '}
              <Link to="/webhooks/new" className="text-accent underline">
                create a webhook endpoint
              </Link>{' '}
              instead.
            </>
          )
        }
      >
        {attributes => (
          <div {...attributes} role="radiogroup" aria-label="Type" className="grid grid-cols-2 gap-2 sm:grid-cols-3">
            {kinds.map(one => (
              <label
                key={one.kind}
                className="flex items-center gap-2 rounded-md border border-line px-3 py-2 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft"
              >
                <input
                  type="radio"
                  name="kind"
                  checked={one === kind}
                  onChange={() => set({ kind: one.kind, ...newSettings(one) })}
                />
                {one.title}
              </label>
            ))}
          </div>
        )}
      </FieldFrame>
      <TextField name="name" label="Name" placeholder="e.g. On-call phone" />
      <ChannelSettings key={kind.kind} kind={kind} />
      <TestSettings kind={kind} />
      <AlertFields kind={kind} />
    </>
  )
}
