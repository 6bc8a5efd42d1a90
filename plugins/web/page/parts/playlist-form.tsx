/** The name of a custom playlist and who sees it: of a new one, and of one that is there. */
import type { IconNode } from 'lucide'
import { useState } from 'preact/hooks'
import { toFailure } from '../server/api.ts'
import { t } from '../texts/lookup.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'
import { VisibilitySwitch } from './visibility.tsx'

/** The server takes no more. */
const LONGEST_NAME = 200

export interface PlaylistChoice {
  name: string
  isPrivate: boolean
}

/** @param onSave  rejects with a Failure: it is said at the name */
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
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const save = async (event: Event) => {
    event.preventDefault()
    if (name.trim() === '') return setError(t('form.required'))
    setBusy(true)
    try {
      await onSave({ name: name.trim(), isPrivate })
    } catch (thrown) {
      setError(toFailure(thrown).message)
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => void save(event)} noValidate>
        <Field
          label={t('playlists.name')}
          value={name}
          error={error}
          autocomplete="off"
          onInput={(value) => {
            setName(value.slice(0, LONGEST_NAME))
            setError(undefined)
          }}
        />
        {hasVisibility && <VisibilitySwitch isPrivate={isPrivate} onChange={setPrivate} />}
        <footer>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="main" type="submit" {...(icon && { icon })} isBusy={isBusy}>
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
