import { Send } from 'lucide-react'
import { useState } from 'react'
import type { NotificationChannelKindView, NotificationChannelTried } from '../../../features/notifications/shapes'
import { Refused } from '../../client'
import { Button } from '../../parts/button'
import { useForm } from '../../parts/form'
import { Problem } from '../../parts/problem'
import { useSend } from '../../queries'
import { settingsOf } from './channel-values'
import { Told } from './told'

/** Sends a test by what stands in the form, before it is saved. */
export function TrySettings({ kind }: { kind: NotificationChannelKindView }) {
  const { values } = useForm()
  const [tried, setTried] = useState<NotificationChannelTried | null>(null)
  const send = useSend<NotificationChannelTried>({ quiet: true, onDone: setTried })
  const name = String(values.name ?? '').trim()
  return (
    <div className="flex flex-col items-start gap-2">
      <Button
        small
        icon={<Send className="size-3.5" aria-hidden />}
        disabled={send.isPending}
        onClick={() => {
          setTried(null)
          send.mutate({
            method: 'POST',
            path: '/notification-channels/try',
            body: { kind: kind.kind, ...(name !== '' && { name }), settings: settingsOf(kind, values) },
          })
        }}
      >
        {send.isPending ? 'Sending…' : 'Send a test'}
      </Button>
      <div role="status" className="w-full">
        {tried && <Told isSent={tried.sent} said={tried.said} trouble={tried.last_error?.detail ?? null} />}
      </div>
      {send.error instanceof Refused && <Problem error={send.error} />}
    </div>
  )
}
