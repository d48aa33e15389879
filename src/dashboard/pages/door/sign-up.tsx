import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { LinkButton } from '../../parts/button'
import { Form, SecretField, TextField } from '../../parts/form'
import { useOne, useSend } from '../../queries'
import { Door } from './frame'

/** A login and a workspace of one’s own, where anyone may make them. */
export default function SignUp() {
  const found = useOne<{ mode: string; open: boolean }>('/sign-up')
  const [isDone, setDone] = useState(false)
  const send = useSend({ quiet: true, onDone: () => setDone(true) })
  if (found.isPending) return null
  if (isDone) {
    return (
      <Door title="It is made" lead="Sign in with the e-mail and the password that you chose.">
        <LinkButton to="/login" kind="main" className="w-full">
          Sign in
        </LinkButton>
      </Door>
    )
  }
  if (found.data && !found.data.open) {
    return (
      <Door title="Sign-up is closed" lead="Whoever runs this hub, or a workspace on it, can invite you.">
        <LinkButton to="/login" className="w-full">
          Sign in
        </LinkButton>
      </Door>
    )
  }
  return (
    <Door title="Make a login">
      <Form
        plain
        initial={{ name: '', email: '', password: '', workspace_name: '' }}
        call={values => ({ method: 'POST', path: '/sign-up', body: values })}
        send={send.mutateAsync}
        pending={send.isPending}
        action="Make it"
      >
        <TextField name="name" label="Your name" autoComplete="name" autoFocus />
        <TextField name="email" label="E-mail" type="email" autoComplete="username" />
        <SecretField name="password" label="Password" autoComplete="new-password" hint="At least 10 characters." />
        <TextField name="workspace_name" label="Name of your workspace" />
      </Form>
      <p className="mt-4 text-[13px] text-muted">
        You have one?{' '}
        <Link to="/login" className="text-accent underline">
          Sign in
        </Link>
      </p>
    </Door>
  )
}
