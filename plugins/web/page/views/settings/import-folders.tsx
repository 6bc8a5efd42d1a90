/** Import: the known folders with their locations, and how new films in them are handled. */
import { FolderInput, Search, Trash } from 'lucide'
import { useState } from 'preact/hooks'
import { Button, IconButton } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Field, Switch } from '../../parts/field.tsx'
import { Form, useForm } from '../../parts/form.tsx'
import { say } from '../../parts/toast.ts'
import { post, remove } from '../../server/api.ts'
import type { Adoption, Place } from '../../server/records.ts'
import { forget } from '../../stores/load.ts'
import { t } from '../../texts/lookup.ts'
import { isBusy } from './import-plan.tsx'
import { scan } from './import-start.tsx'
import { Group } from './option.tsx'

interface FoldersProps {
  places: Place[]
  adoptions: Adoption[]
  reload: () => Promise<void>
}

export function Folders({ places, adoptions, reload }: FoldersProps) {
  if (places.length === 0) return null
  return (
    <Group title={t('settings.import.places')}>
      <ul class="settings-rows">
        {places.map((place) => (
          <li key={place.id}>
            <Known place={place} reload={reload} />
            <Button
              icon={Search}
              isBusy={adoptions.some((one) => one.place === place.id && isBusy(one))}
              aria-label={t('settings.import.scanOf', { name: place.label })}
              onClick={() => scan(place).then(reload)}
            >
              {t('settings.import.scan')}
            </Button>
            {place.videos === 0 && (
              <IconButton
                icon={Trash}
                label={t('settings.import.forgetOf', { name: place.label })}
                onClick={() => remove(`/api/place/${place.id}/`).then(reload)}
              />
            )}
          </li>
        ))}
      </ul>
    </Group>
  )
}

function Known({ place, reload }: { place: Place; reload: () => Promise<void> }) {
  const { id, label: name } = place
  const set = async (change: { follow: boolean } | { ours: boolean }) => {
    await post(`/api/place/${id}/`, change)
    await reload()
  }
  const mark = async (isOn: boolean) => {
    const isSure =
      !isOn ||
      (await confirm({
        title: t('settings.import.ours.title'),
        text: <p>{t('settings.import.ours.text', { name })}</p>,
        action: t('settings.import.ours.yes'),
      }))
    await (isSure ? set({ ours: isOn }) : reload())
  }
  return (
    <div class="row-words">
      <strong dir="auto">{name}</strong>
      <p class="meta">
        {place.path} · {t('settings.import.videos', { count: place.videos })}
        {place.state === 'away' && ` · ${t('video.awayShort')}`}
      </p>
      {place.state === 'away' && <Whereabouts place={place} reload={reload} />}
      <details class="plan-part">
        <summary class="unfold">{t('settings.import.options', { name })}</summary>
        <Switch
          label={t('settings.import.follow', { name })}
          isOn={place.follow}
          onChange={(isOn) => set({ follow: isOn })}
        />
        <Switch
          label={t('settings.import.ours', { name })}
          hint={t('settings.import.ours.hint')}
          isOn={place.ours}
          onChange={mark}
        />
        {place.state !== 'away' && <Whereabouts place={place} reload={reload} />}
      </details>
    </div>
  )
}

/** The location of a place: shown while it is offline, or on request. */
function Whereabouts({ place: { id, label, path, state }, reload }: { place: Place; reload: () => Promise<void> }) {
  const [isAsked, ask] = useState(false)
  const [typed, setTyped] = useState(path)
  const form = useForm({ path: { showsRest: true, refused: true } })
  if (state !== 'away' && !isAsked)
    return (
      <Button kind="quiet" icon={FolderInput} onClick={() => ask(true)}>
        {t('settings.import.moved', { name: label })}
      </Button>
    )
  const move = async () => {
    await post(`/api/place/${id}/`, { path: typed.trim() })
    ask(false)
    say(t('settings.import.moved.found', { name: label }))
    forget()
    await reload()
  }
  return (
    <Form form={form} class="option-form" onSubmit={move}>
      <Field
        label={t('settings.import.moved.path', { name: label })}
        value={typed}
        onInput={setTyped}
        error={form.errors.path}
        hint={t('settings.import.moved.hint')}
      />
      <div class="buttons">
        <Button icon={FolderInput} type="submit" disabled={typed.trim() === '' || typed.trim() === path}>
          {t('settings.import.moved.here')}
        </Button>
        {state !== 'away' && (
          <Button kind="quiet" onClick={() => ask(false)}>
            {t('action.cancel')}
          </Button>
        )}
      </div>
    </Form>
  )
}
