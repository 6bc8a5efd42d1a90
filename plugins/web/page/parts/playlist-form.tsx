/** A form for the name and visibility of a new or existing custom playlist. */
import type { IconNode } from 'lucide'
import { useState } from 'preact/hooks'
import { t } from '../texts/lookup.ts'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'
import { Form, FormButtons, useForm } from './form.tsx'
import { VisibilitySwitch } from './visibility.tsx'

/** The server's limit. */
const LONGEST_NAME = 200

export interface PlaylistChoice {
  name: string
  isPrivate: boolean
}

/** @param onSave  may reject with a Failure, which is shown at the name field */
export function PlaylistForm({
  title,
  was,
  hasVisibility,
  action,
  icon,
  onSave,
  onClose,
}: {
  title: string
  was: PlaylistChoice
  hasVisibility: boolean
  action: string
  icon?: IconNode
  onSave: (choice: PlaylistChoice) => Promise<void>
  onClose: () => void
}) {
  const [name, setName] = useState(was.name)
  const [isPrivate, setPrivate] = useState(was.isPrivate)
  const form = useForm({ name: { wrong: name.trim() === '' && t('form.required'), showsRest: true } })
  return (
    <Dialog title={title} onClose={onClose}>
      <Form form={form} onSubmit={() => onSave({ name: name.trim(), isPrivate })}>
        <Field
          label={t('playlists.name')}
          value={name}
          error={form.errors.name}
          autocomplete="off"
          onInput={(value) => setName(value.slice(0, LONGEST_NAME))}
        />
        {hasVisibility && <VisibilitySwitch isPrivate={isPrivate} onChange={setPrivate} />}
        <footer>
          <FormButtons action={action} {...(icon && { icon })} onCancel={onClose} />
        </footer>
      </Form>
    </Dialog>
  )
}
