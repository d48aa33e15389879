import { Send } from 'lucide-react'
import { useState } from 'react'
import type { NotificationChannelKindView, NotificationChannelTestResult } from '../../../features/notifications/shapes'
import { settingsOf } from '../../parts/adapter-settings'
import { Button } from '../../parts/button'
import { useForm } from '../../parts/form'
import { useSend } from '../../queries'
import { TestResult } from './test-result'

/** Sends a test message with the form's settings, before they are saved. */
export function TestSettings({ kind }: { kind: NotificationChannelKindView }) {
  const { values, showError } = useForm()
  const [result, setResult] = useState<NotificationChannelTestResult | null>(null)
  const send = useSend<NotificationChannelTestResult>({ quiet: true, onSuccess: setResult })
  const name = String(values.name ?? '').trim()
  return (
    <div className="flex flex-col items-start gap-2">
      <Button
        small
        icon={Send}
        disabled={send.isPending}
        onClick={() => {
          setResult(null)
          const body = { kind: kind.kind, ...(name !== '' && { name }), settings: settingsOf(kind, values) }
          send.mutate({ method: 'POST', path: '/notification-channels/test', body }, { onError: showError })
        }}
      >
        {send.isPending ? 'Sending…' : 'Send test message'}
      </Button>
      <div role="status" className="w-full">
        {result && <TestResult isSent={result.sent} response={result.response} error={result.error?.detail ?? null} />}
      </div>
    </div>
  )
}
