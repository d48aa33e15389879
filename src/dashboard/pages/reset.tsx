import { Link, useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import { Form, SecretField, TextField } from '../parts/form'
import { SignInFrame, SignInMessage } from './sign-in/frame'

/** Password reset: with a code from the emailed link, sets the password; without one, requests the email. */
export default function Reset() {
  // The code is in the fragment: it is sent only in request bodies, never in a URL that is logged.
  const code = useLocation({ select: one => one.hash })
  return code === '' ? <RequestLink /> : <ChoosePassword key={code} code={code} />
}

function RequestLink() {
  const [email, setEmail] = useState<string | null>(null)
  if (email !== null) {
    return (
      <SignInMessage
        title="Check your email"
        description={`If there is an account for ${email}, you get an email with a link to reset the password. It expires in one hour.`}
        link="Back to sign-in"
      />
    )
  }
  return (
    <SignInFrame title="Reset your password" description="You get an email with a link to set a new password.">
      <Form<{ email: string }>
        plain
        initial={{ email: '' }}
        call={values => ({ method: 'POST', path: '/password-resets', body: values })}
        send={{ onSuccess: receipt => setEmail(receipt.email) }}
        submitLabel="Send reset link"
      >
        <TextField name="email" label="Email" type="email" autoComplete="username" autoFocus />
      </Form>
      <p className="mt-4 text-[13px]">
        <Link to="/login" className="text-accent underline">
          Back to sign-in
        </Link>
      </p>
    </SignInFrame>
  )
}

function ChoosePassword({ code }: { code: string }) {
  const [isDone, setDone] = useState(false)
  if (isDone) {
    return (
      <SignInMessage
        title="Password changed"
        description="You are signed out everywhere. Sign in with the new password."
        link="Sign in"
        primary
      />
    )
  }
  return (
    <SignInFrame title="Set a new password">
      <Form
        plain
        initial={{ code, password: '' }}
        call={values => ({ method: 'POST', path: '/password-resets/redeem', body: values })}
        send={{ onSuccess: () => setDone(true) }}
        submitLabel="Set password"
      >
        <SecretField name="password" label="New password" autoComplete="new-password" hint="At least 10 characters." autoFocus />
      </Form>
    </SignInFrame>
  )
}
