import { useState } from 'react'
import type { PingKeyView } from '../../../features/heartbeats/shapes'
import { Button } from '../../parts/button'
import { Code, Copied } from '../../parts/code'
import { Confirm } from '../../parts/dialog'
import { Card, Facts, Loaded, Page } from '../../parts/page'
import { Ago } from '../../parts/time'
import { useOne, useSend } from '../../queries'

const up = { to: '/heartbeats', label: 'Heartbeats' }

/** The key by which one address serves all heartbeats of the workspace, each by its slug. */
export default function PingKey() {
  const found = useOne<PingKeyView>('/heartbeats/ping-key')
  const [asking, setAsking] = useState(false)
  const rotate = useSend({
    done: 'It is a new key',
    stale: ['/heartbeats'],
    onDone: () => setAsking(false),
  })
  return (
    <Loaded found={found} up={up}>
      {({ ping_key: key, ping_url: url, created_at: made }) => (
        <Page
          title="Ping key"
          up={up}
          lead="With one key, jobs ping by the name of their heartbeat, and may make heartbeats that do not exist yet."
          actions={
            <Button kind="bad" onClick={() => setAsking(true)}>
              New key
            </Button>
          }
        >
          <div className="flex max-w-3xl flex-col gap-4">
            <Card>
              <Facts
                rows={[
                  ['Key', key === null ? null : <Copied text={key} label="the ping key" />],
                  ['Address', url === null ? null : <Copied text={url} label="the address" />],
                  ['Made', <Ago at={made} />],
                ]}
              />
            </Card>
            {url !== null && (
              <Card title="In a script">
                <Code
                  label="shell"
                  text={`# <slug> is the slug of the heartbeat. Where there is none, it is made with this schedule.
curl -fsS -m 10 --retry 5 -o /dev/null "${url.replace('<slug>', 'nightly-backup')}?create=1&every=1d&grace=1h"`}
                />
              </Card>
            )}
          </div>
          <Confirm
            open={asking}
            onClose={() => setAsking(false)}
            title="Make a new ping key?"
            action="Make a new key"
            pending={rotate.isPending}
            onConfirm={() => rotate.mutate({ method: 'POST', path: '/heartbeats/ping-key/rotate' })}
          >
            Addresses with the key there is stop working at once, in every job that uses it.
          </Confirm>
        </Page>
      )}
    </Loaded>
  )
}
