/** Import: the first step: select a library that was found on the server, or enter the path of a folder. */
import { Search } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { Form, unlessChanged, useForm } from '../../parts/form.tsx'
import { say } from '../../parts/toast.ts'
import { post } from '../../server/api.ts'
import type { Place } from '../../server/records.ts'
import { t } from '../../texts/lookup.ts'
import { FoundBelow } from './import-found.tsx'
import { startScan } from './import-started.ts'
import { Group } from './option.tsx'

interface StartProps {
  places: Place[]
  /** Permitted folders that do not exist. */
  missing: string[]
  roots: string[]
  reload: () => Promise<void>
}

export async function scan({ id, label }: Pick<Place, 'id' | 'label'>): Promise<void> {
  await startScan(id)
  say(t('settings.import.scanning', { name: label }))
}

export function Start({ places, roots, missing, reload }: StartProps) {
  const take = async (path: string) => {
    await scan(await post<Place>('/api/place/', { path }))
    await reload()
  }
  return (
    <Group title={t('settings.import.start')}>
      {missing.map((path) => (
        <p class="option-line bad" key={path}>
          {t('settings.import.rootMissing', { path })}
        </p>
      ))}
      <FoundBelow places={places} take={take} />
      {roots.length === 0 ? (
        <p class="option-line">{t('settings.import.noRoots')}</p>
      ) : (
        <ByPath roots={roots} take={take} />
      )}
    </Group>
  )
}

function ByPath({ roots, take }: { roots: string[]; take: (path: string) => Promise<void> }) {
  const [path, setPath] = useState('')
  const form = useForm({ path: { showsRest: true, refused: true } })
  const send = async () => {
    await take(path.trim())
    setPath(unlessChanged(path, ''))
  }
  return (
    <Form form={form} class="option-form" onSubmit={send}>
      <Field
        label={t('settings.import.path')}
        value={path}
        onInput={setPath}
        error={form.errors.path}
        hint={t('settings.import.path.hint', { roots: roots.join(', ') })}
        placeholder={roots[0] ?? ''}
      />
      {form.refusal}
      <div class="buttons">
        <Button icon={Search} type="submit" disabled={path.trim() === ''}>
          {t('settings.import.scanFolder')}
        </Button>
      </div>
    </Form>
  )
}
