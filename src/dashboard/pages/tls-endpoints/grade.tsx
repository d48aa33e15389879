import type { TlsEndpointView } from '../../../features/tls-endpoints/shapes'
import type { Tone } from '../../parts/status'

type Letter = NonNullable<TlsEndpointView['grade']>

const toneOfGrade = (grade: Letter | null): Tone =>
  grade === null ? 'idle' : grade.startsWith('A') ? 'ok' : grade === 'B' || grade === 'C' ? 'warn' : 'bad'

const colors: Record<Tone, string> = {
  ok: 'bg-ok-soft text-ok',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  idle: 'bg-idle-soft text-idle',
  busy: 'bg-idle-soft text-idle',
}

const meanings: Partial<Record<Letter, string>> = { T: 'not trusted', M: 'for another name' }

/** What a grade means, where the letter alone does not tell. */
export const gradeMeaning = (grade: Letter | null): string | null => (grade === null ? null : (meanings[grade] ?? null))

/** A grade as a letter on its color. */
export function GradeBadge({ grade, large }: { grade: Letter | null; large?: boolean }) {
  const meaning = gradeMeaning(grade)
  return (
    <span
      className={`inline-flex shrink-0 items-center justify-center font-semibold ${colors[toneOfGrade(grade)]} ${large ? 'size-20 rounded-xl text-4xl' : 'h-7 min-w-9 rounded-md px-1.5 text-[13px]'}`}
      title={meaning ?? undefined}
    >
      {grade ?? '–'}
      {meaning && <span className="sr-only">: {meaning}</span>}
    </span>
  )
}

/** Grades for filters, with problems first. */
export const gradeChoices = {
  'T,M': 'Certificate problems (T, M)',
  'F,E,D,C': 'C or worse',
  B: 'B',
  'A-,A,A+': 'A',
}

export const protocolTitles: Record<TlsEndpointView['protocol'], string> = {
  tls: 'HTTPS or TLS',
  smtp: 'SMTP with STARTTLS',
  imap: 'IMAP with STARTTLS',
  pop3: 'POP3 with STLS',
  ftp: 'FTP with AUTH TLS',
  ldap: 'LDAP with StartTLS',
  postgres: 'PostgreSQL',
  mysql: 'MySQL or MariaDB',
  xmpp: 'XMPP with STARTTLS',
  sieve: 'ManageSieve with STARTTLS',
}
