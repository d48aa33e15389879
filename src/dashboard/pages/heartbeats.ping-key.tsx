import type { PingKeyView } from '../../features/heartbeats/shapes'
import { Button } from '../parts/button'
import { Code, CopyableText } from '../parts/code'
import { confirm } from '../parts/open-dialog'
import { Card, Loaded, Page } from '../parts/page'
import { RelativeTime } from '../parts/time'
import { useOne } from '../queries'

/** The ping key, used in ping URLs with slugs. */
export default function PingKey() {
  const found = useOne<PingKeyView>('/heartbeats/ping-key')
  return (
    <Loaded query={found} parent="/heartbeats">
      {({ ping_key: key, ping_url: url, created_at: createdAt }) => (
        <Page
          parent="/heartbeats"
          description="One key for all heartbeats: jobs use it in URLs with the slug of a heartbeat, and can create heartbeats with their first ping."
          actions={
            <Button kind="danger" onClick={rotate}>
              Rotate ping key
            </Button>
          }
        >
          <div className="flex max-w-5xl flex-col gap-4">
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
        </Page>
      )}
    </Loaded>
  )
}

const rotate = () =>
  confirm({
    title: 'Rotate the ping key?',
    text: 'URLs with the current key stop working immediately. Pings are missed until all jobs that use it have the new key.',
    action: 'Rotate ping key',
    call: { method: 'POST', path: '/heartbeats/ping-key/rotate' },
    send: { toast: 'Ping key rotated', invalidates: ['/heartbeats'] },
  })
