import { useState } from 'react'
import type { PingKeyView } from '../../features/heartbeats/shapes'
import { Button } from '../parts/button'
import { Code, CopyableText } from '../parts/code'
import { Confirm } from '../parts/dialog'
import { Card, Loaded, Page } from '../parts/page'
import { RelativeTime } from '../parts/time'
import { useOne } from '../queries'

/** The ping key, used in ping URLs with slugs. */
export default function PingKey() {
  const found = useOne<PingKeyView>('/heartbeats/ping-key')
  const [isOpen, setOpen] = useState(false)
  return (
    <Loaded query={found} parent="/heartbeats">
      {({ ping_key: key, ping_url: url, created_at: createdAt }) => (
        <Page
          parent="/heartbeats"
          description="With the ping key, jobs can ping any heartbeat by its slug and create heartbeats on their first ping."
          actions={
            <Button kind="danger" onClick={() => setOpen(true)}>
              Rotate key
            </Button>
          }
        >
          <div className="flex max-w-3xl flex-col gap-4">
            <Card
              facts={[
                ['Key', key === null ? null : <CopyableText text={key} label="ping key" />],
                ['URL', url === null ? null : <CopyableText text={url} label="URL" />],
                ['Created', <RelativeTime at={createdAt} />],
              ]}
            />
            {url !== null && (
              <Card title="Example">
                <Code
                  label="shell"
                  text={`# Pings the heartbeat with the slug nightly-backup. If it doesn't exist, it is created with this schedule.
curl -fsS -m 10 --retry 5 -o /dev/null "${url.replace('<slug>', 'nightly-backup')}?create=1&every=1d&grace=1h"`}
                />
              </Card>
            )}
          </div>
          <Confirm
            open={isOpen}
            onClose={() => setOpen(false)}
            title="Rotate the ping key?"
            confirmLabel="Rotate key"
            call={() => ({ method: 'POST', path: '/heartbeats/ping-key/rotate' })}
            send={{ toast: 'Ping key rotated', invalidates: ['/heartbeats'], onSuccess: () => setOpen(false) }}
          >
            URLs with the current key stop working immediately in every job that uses them.
          </Confirm>
        </Page>
      )}
    </Loaded>
  )
}
