import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { SignUpStatus } from '../../features/people/sign-up/shapes'
import { Form, TextField } from '../parts/form'
import { useOne } from '../queries'
import { NewUserFields, SignInFrame, SignInMessage } from './sign-in/frame'

/** Creates an account and a workspace, if sign-up is open. */
export default function SignUp() {
  const found = useOne<SignUpStatus>('/sign-up')
  const [isDone, setDone] = useState(false)
  if (found.isPending) return null
  if (isDone) {
    return (
      <SignInMessage
        title="Almost done"
        description="Sign in with your email and password. If you already had an account, its password has not changed."
        link="Sign in"
        primary
      />
    )
  }
  if (found.data && !found.data.open) {
    return (
      <SignInMessage
        title="Sign-up is closed"
        description="Ask the operator of this installation for an invitation."
        link="Sign in"
      />
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
        <NewUserFields />
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
