/** A field for the PIN of an account. */
import { Field } from './field.tsx'

interface PinFieldProps {
  label: string
  value: string
  onInput: (pin: string) => void
  error: string | undefined
}

export const PinField = (props: PinFieldProps) => (
  <Field {...props} type="password" name="pin" autocomplete="off" isRequired />
)
