import type { ExplainedReason } from '../../../features/tls-endpoints/grades/shapes'
import { Code, Mono } from '../../parts/code'
import { Disclosure } from '../../parts/disclosure'
import { Card } from '../../parts/page'
import { capitalize } from '../../parts/status'
import { TextWithCode } from '../../parts/text-with-code'
import { ToggleGroup } from '../../parts/toggle-group'
import { useUrlState } from '../../parts/url-state'
import { GradeBadge } from './grade'

type Server = keyof ExplainedReason['config']

const servers: Record<Server, string> = {
  nginx: 'nginx',
  apache: 'Apache',
  caddy: 'Caddy',
  haproxy: 'HAProxy',
  postfix: 'Postfix',
}

/** Where to change the lines, and how to apply them. */
const applyTexts: Record<Server, string> = {
  nginx: 'Change these lines in the `server` blocks below `/etc/nginx`. Then run `nginx -t && systemctl reload nginx`.',
  apache:
    'Change these lines in the virtual hosts below `/etc/apache2` or `/etc/httpd`. Then run `apachectl configtest && apachectl graceful`.',
  caddy: 'Change these lines in `/etc/caddy/Caddyfile`. Then run `caddy validate` and `systemctl reload caddy`.',
  haproxy:
    'Change these lines in `/etc/haproxy/haproxy.cfg`. Then run `haproxy -c -f /etc/haproxy/haproxy.cfg && systemctl reload haproxy`.',
  postfix: 'Change these lines in `/etc/postfix/main.cf`. Then run `postfix check && systemctl reload postfix`.',
}

const effectTexts: Record<ExplainedReason['effect'], string> = {
  T: 'The grade is T (not trusted), regardless of other results.',
  M: 'The grade is M (for another name), regardless of other results.',
  F: 'The grade is F.',
  C: 'The grade is C at best.',
  B: 'The grade is B at best.',
  warning: 'The grade is A- at best.',
}

/** Why a grade is not better: what to change first, and then what was found. */
export function Reasons({ reasons, protocol }: { reasons: readonly ExplainedReason[]; protocol: string }) {
  const initial = protocol === 'smtp' ? 'postfix' : 'nginx'
  const [{ server }, set] = useUrlState({ server: initial })
  const chosen = (server in servers ? server : initial) as Server
  if (reasons.length === 0)
    return (
      <Card title="Recommendations">
        <p>None. No problems were found.</p>
      </Card>
    )
  return (
    <Card
      title="Recommendations"
      actions={<ToggleGroup label="Server software" value={chosen} onChange={next => set({ server: next })} choices={servers} />}
      flush
    >
      <p className="border-b border-line px-4 py-3">
        <TextWithCode text={applyTexts[chosen]} />
      </p>
      <ol className="divide-y divide-line">
        {reasons.map(one => (
          <li key={one.rule} className="flex flex-col gap-2 p-4">
            <Reason reason={one} server={chosen} />
          </li>
        ))}
      </ol>
    </Card>
  )
}

function Reason({ reason, server }: { reason: ExplainedReason; server: Server }) {
  const { rule, effect, title, detail, meaning, fix, config, evidence } = reason
  const lines = config[server]
  const found = Object.entries(evidence)
  return (
    <>
      <div className="flex items-start gap-3">
        <GradeBadge grade={effect === 'warning' ? 'A-' : effect} />
        <div className="min-w-0">
          <h3 className="font-medium">{title}</h3>
          <p className="text-muted">{effectTexts[effect]}</p>
        </div>
      </div>
      <p>{fix}</p>
      {lines === null ? (
        <p className="text-muted">{servers[server]} has nothing to change for this.</p>
      ) : (
        <Code label={servers[server]} text={lines} />
      )}
      <p className="text-muted">
        {detail} {meaning}{' '}
        <a href={`/docs/tls-grades#${rule}`} className="text-accent underline">
          More about {title}
        </a>
      </p>
      {found.length > 0 && (
        <Disclosure summary="What was found">
          <dl className="mt-1 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 pl-5">
            {found.map(([kind, values]) => (
              <div key={kind} className="contents">
                <dt className="text-muted">{capitalize(kind)}</dt>
                <dd className="wrap-anywhere">
                  {values.map(value => (
                    <div key={value}>
                      <Mono>{value}</Mono>
                    </div>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </Disclosure>
      )}
    </>
  )
}
