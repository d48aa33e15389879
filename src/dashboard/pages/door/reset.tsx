import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { LinkButton } from '../../parts/button'
import { Form, SecretField, TextField } from '../../parts/form'
import { useSend } from '../../queries'
import { Door } from './frame'

/** A new password: with the link of a mail to choose it, without one to ask for the mail. */
export default function Reset() {
  // The code is behind #: it reaches the hub in bodies alone, never in an address that is logged.
  const code = location.hash.slice(1)
  return code === '' ? <Ask /> : <Choose code={code} />
}

function Ask() {
  const [email, setEmail] = useState<string | null>(null)
  const send = useSend<{ email: string }>({ quiet: true, onDone: told => setEmail(told.email) })
  if (email !== null) {
    return (
      <Door
        title="Look at your mail"
        lead={`If there is a login with ${email}, a link is on its way to it. It works for an hour.`}
      >
        <LinkButton to="/login" className="w-full">
          Back to the sign-in
        </LinkButton>
      </Door>
    )
  }
  return (
    <Door title="A new password" lead="A link to choose it is mailed to you.">
      <Form
        plain
        initial={{ email: '' }}
        call={values => ({ method: 'POST', path: '/password-resets', body: values })}
        send={send.mutateAsync}
        pending={send.isPending}
        action="Mail me the link"
      >
        <TextField name="email" label="E-mail" type="email" autoComplete="username" autoFocus />
      </Form>
      <p className="mt-4 text-[13px]">
        <Link to="/login" className="text-accent underline">
          Back to the sign-in
        </Link>
      </p>
    </Door>
  )
}

function Choose({ code }: { code: string }) {
  const [isDone, setDone] = useState(false)
  const send = useSend({ quiet: true, onDone: () => setDone(true) })
  if (isDone) {
    return (
      <Door title="The password is set" lead="Every session has ended. Sign in with the new password.">
        <LinkButton to="/login" kind="main" className="w-full">
          Sign in
        </LinkButton>
      </Door>
    )
  }
  return (
    <Door title="Choose a password">
      <Form
        plain
        initial={{ code, password: '' }}
        call={values => ({ method: 'POST', path: '/password-resets/redeem', body: values })}
        send={send.mutateAsync}
        pending={send.isPending}
        action="Set the password"
      >
        <SecretField name="password" label="New password" autoComplete="new-password" hint="At least 10 characters." autoFocus />
      </Form>
    </Door>
  )
}
