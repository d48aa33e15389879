import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { LinkButton } from '../parts/button'
import { Form, SecretField, TextField } from '../parts/form'
import { useOne } from '../queries'
import { SignInFrame } from './sign-in/frame'

/** Creates an account and a workspace, if sign-up is open. */
export default function SignUp() {
  const found = useOne<{ mode: string; open: boolean }>('/sign-up')
  const [isDone, setDone] = useState(false)
  if (found.isPending) return null
  if (isDone) {
    return (
      <SignInFrame title="Account created" description="Sign in with your email and password.">
        <LinkButton to="/login" kind="primary" className="w-full">
          Sign in
        </LinkButton>
      </SignInFrame>
    )
  }
  if (found.data && !found.data.open) {
    return (
      <SignInFrame
        title="Sign-up is closed"
        description="Ask the operator of this hub or the owner of a workspace for an invitation."
      >
        <LinkButton to="/login" className="w-full">
          Sign in
        </LinkButton>
      </SignInFrame>
    )
  }
  return (
    <SignInFrame title="Create account">
      <Form
        plain
        initial={{ name: '', email: '', password: '', workspace_name: '' }}
        call={values => ({ method: 'POST', path: '/sign-up', body: values })}
        send={{ onSuccess: () => setDone(true) }}
        submitLabel="Create account"
      >
        <TextField name="name" label="Your name" autoComplete="name" autoFocus />
        <TextField name="email" label="Email" type="email" autoComplete="username" />
        <SecretField name="password" label="Password" autoComplete="new-password" hint="At least 10 characters." />
        <TextField name="workspace_name" label="Workspace name" />
      </Form>
      <p className="mt-4 text-[13px] text-muted">
        Already have an account?{' '}
        <Link to="/login" className="text-accent underline">
          Sign in
        </Link>
      </p>
    </SignInFrame>
  )
}
