import type { AddressReport, ChainCertificate, ChainReport } from '../../../features/tls-endpoints/grades/shapes'
import { Mono } from '../../parts/code'
import { Card } from '../../parts/page'
import { pluralize } from '../../parts/plural'
import { capitalize, humanize, Status, type Tone } from '../../parts/status'
import { formatDate } from '../../parts/time'

const versionNames: Record<string, string> = {
  ssl2: 'SSL 2.0',
  ssl3: 'SSL 3.0',
  '1.0': 'TLS 1.0',
  '1.1': 'TLS 1.1',
  '1.2': 'TLS 1.2',
  '1.3': 'TLS 1.3',
}
const goodVersions = new Set(['1.2', '1.3'])

/** What was found at one address: versions with their suites, chains, and options. */
export const AddressDetails = ({ report }: { report: AddressReport }) => (
  <>
    <Versions report={report} />
    {report.chains.map((chain, at) => (
      <ChainCard key={at} chain={chain} />
    ))}
    <Card
      title="Connection details"
      facts={[
        ['Address', <Mono>{report.address}</Mono>],
        ['Key exchange groups', report.groups.length > 0 && <Mono>{report.groups.join(', ')}</Mono>],
        [
          'HSTS',
          report.hsts &&
            `${pluralize(Math.floor(report.hsts.max_age_seconds / 86_400), 'day', 'days')}${report.hsts.include_subdomains ? ', with subdomains' : ''}${report.hsts.preload ? ', preload' : ''}`,
        ],
        ['ALPN', report.alpn && <Mono>{report.alpn}</Mono>],
        ['OCSP stapling', yesOrNo(report.ocsp_stapling)],
        ['Secure renegotiation', yesOrNo(report.secure_renegotiation)],
        ['Compression', yesOrNo(report.compression)],
        ['Not tested', report.not_tested.map(nameOfAttack).join(', ')],
        ['Incomplete', report.errors.length > 0 && report.errors.map(one => <div key={one}>{one}</div>)],
        ['Connections', String(report.connections)],
      ]}
    />
  </>
)

const attackNames: Record<string, string> = { ccs_injection: 'CCS injection', robot: 'ROBOT', drown: 'DROWN' }

const nameOfAttack = (attack: string): string => attackNames[attack] ?? capitalize(humanize(attack))

const yesOrNo = (value: boolean | null): string => (value === null ? 'Unknown' : value ? 'Yes' : 'No')

const Versions = ({ report: { versions } }: { report: AddressReport }) => (
  <Card title="Protocols and suites" flush>
    <ul className="divide-y divide-line">
      {versions.toReversed().map(one => (
        <li key={one.version} className="flex flex-col gap-2 px-4 py-2.5">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <h3 className="w-20 font-medium">{versionNames[one.version]}</h3>
            <Status status={one.status} tone={toneOfVersion(one)} />
            {one.suites.length > 1 && one.order && (
              <span className="text-muted">
                {one.order === 'server' ? 'The server decides which suite is used.' : 'The client decides which suite is used.'}
              </span>
            )}
          </div>
          {one.suites.length > 0 && (
            <ul className="flex flex-col gap-1">
              {one.suites.map(suite => (
                <li key={suite.name} className="flex flex-wrap items-baseline gap-x-3 max-sm:pb-1">
                  <span className="wrap-anywhere">
                    <Mono>{suite.name}</Mono>
                  </span>
                  <span className={weaknessOf(suite) === '' ? 'text-muted' : 'text-warn'}>
                    {[`${suite.bits} bits`, suite.key, weaknessOf(suite)].filter(Boolean).join(' · ')}
                  </span>
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ul>
  </Card>
)

const toneOfVersion = ({ version, status }: AddressReport['versions'][number]): Tone =>
  status === 'not_tested'
    ? 'idle'
    : goodVersions.has(version)
      ? status === 'offered'
        ? 'ok'
        : 'warn'
      : status === 'offered'
        ? 'bad'
        : 'idle'

function weaknessOf({ bits, mode, forward_secrecy: secrecy }: AddressReport['versions'][number]['suites'][number]): string {
  if (bits === 0) return 'no encryption'
  if (bits < 128) return 'weak'
  return [!secrecy && 'no forward secrecy', mode !== 'aead' && 'no AEAD'].filter(Boolean).join(', ')
}

const stateTexts: Record<ChainReport['state'], string> = {
  ok: 'Complete',
  incomplete: 'Intermediate certificates are missing',
  misordered: 'In the wrong order',
  superfluous: 'With unnecessary certificates',
}
const trustTexts: Record<ChainReport['trust'], string> = {
  public: 'Trusted publicly',
  private: 'Trusted by this workspace',
  self_signed: 'Self-signed',
  untrusted: 'Not trusted',
}

/** A chain as it was sent, next to the one that leads to a root. */
const ChainCard = ({ chain }: { chain: ChainReport }) => {
  const isTrusted = chain.trust === 'public' || chain.trust === 'private'
  return (
    <Card title="Certificates">
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <Status status={chain.trust} tone={isTrusted ? 'ok' : 'bad'} label={trustTexts[chain.trust]} />
        {isTrusted && (
          <Status
            status={chain.state}
            tone={chain.state === 'ok' ? 'ok' : chain.state === 'superfluous' ? 'idle' : 'warn'}
            label={stateTexts[chain.state]}
          />
        )}
        <Status
          status="name"
          tone={chain.covers_host ? 'ok' : 'bad'}
          label={chain.covers_host ? 'Valid for the host' : 'Not valid for the host'}
        />
      </div>
      <div className="grid gap-4 lg:grid-cols-2">
        <Certificates title="As the server sends them" certificates={chain.sent} other={chain.path} missing="not needed" />
        <Certificates
          title={isTrusted ? 'Path to a trusted root' : 'Path, as far as it is known'}
          certificates={chain.path}
          other={chain.sent}
          missing={isTrusted ? 'not sent' : ''}
          hasRoot={isTrusted}
        />
      </div>
      <p className="mt-3 text-muted">
        Valid for {chain.names.slice(0, 10).join(', ') || 'no name'}
        {chain.name_count > 10 && `, and ${chain.name_count - 10} more`}.
      </p>
    </Card>
  )
}

interface CertificatesProps {
  title: string
  certificates: readonly ChainCertificate[]
  other: readonly ChainCertificate[]
  /** Mark of those that the other list lacks. */
  missing: string
  /** Whether the last one is the root, which needn’t be sent. */
  hasRoot?: boolean
}

const Certificates = ({ title, certificates, other, missing, hasRoot = false }: CertificatesProps) => (
  <div className="min-w-0">
    <h3 className="mb-1 font-medium">{title}</h3>
    <ol className="flex flex-col gap-2">
      {certificates.map((one, at) => {
        const isRoot = hasRoot && at === certificates.length - 1
        const mark = isRoot ? 'root' : other.some(({ sha256 }) => sha256 === one.sha256) ? '' : missing
        return (
          <li key={at} className="rounded-md border border-line px-3 py-2 wrap-anywhere">
            <div className="flex flex-wrap items-center gap-x-2">
              <span>{one.subject || 'No subject'}</span>
              {mark && <span className={mark === 'not sent' ? 'text-warn' : 'text-muted'}>({mark})</span>}
            </div>
            <div className="text-[13px] text-muted">
              {one.key} · {one.signature_algorithm} · until {formatDate(one.not_after)}
            </div>
          </li>
        )
      })}
    </ol>
  </div>
)
