import { useEffect, type ReactNode } from 'react'
import { LinkButton } from '../../parts/button'
import { SecretField, TextField } from '../../parts/form'

/** The layout of pages shown before sign-in. */
export function SignInFrame({ title, description, children }: { title: string; description?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Bailiwick`
  }, [title])
  return (
    // Not centered vertically: buttons would move while parts below them load.
    <main className="flex min-h-dvh flex-col items-center p-4 pt-[14dvh]">
      <div className="w-full max-w-sm rounded-xl border border-line bg-surface p-6">
        <img src="/icon.svg" alt="" width="32" height="32" className="mb-4" />
        <h1 className="text-lg font-semibold wrap-anywhere">{title}</h1>
        {description && <p className="mt-1 wrap-anywhere text-muted">{description}</p>}
        <div className="mt-5">{children}</div>
      </div>
      <p className="mt-4 text-[13px] text-muted">
        <a className="hover:underline" href="/docs">
          Handbook
        </a>
        {' · '}
        <a className="hover:underline" href="/swagger">
          API reference
        </a>
      </p>
    </main>
  )
}

interface SignInMessageProps {
  title: string
  description: string
  /** Label of the link. */
  link: string
  to?: '/' | '/login'
  primary?: boolean
}

/** A message in place of a form, and a link to continue. */
export const SignInMessage = ({ title, description, link, to = '/login', primary }: SignInMessageProps) => (
  <SignInFrame title={title} description={description}>
    <LinkButton to={to} kind={primary ? 'primary' : 'secondary'} className="w-full">
      {link}
    </LinkButton>
  </SignInFrame>
)

/** Fields for a new user. */
export const NewUserFields = () => (
  <>
    <TextField name="name" label="Your name" autoComplete="name" autoFocus />
    <TextField name="email" label="Email" type="email" autoComplete="username" />
    <SecretField name="password" label="Password" autoComplete="new-password" hint="At least 10 characters." />
  </>
)
