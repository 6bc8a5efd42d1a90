/** The form for a new or existing folder for media servers, with a preview of its paths. */
import { Plus } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { Chosen, KINDS, type Kind, MOST_CHOSEN } from '../../parts/chosen.tsx'
import { Dialog, useWhileOpen } from '../../parts/dialog.tsx'
import { Field, Select, Switch } from '../../parts/field.tsx'
import { Form, FormButtons, unlessChanged, useForm } from '../../parts/form.tsx'
import { GroupChecks } from '../../parts/groups.tsx'
import { Picker } from '../../parts/picker.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, toFailure } from '../../server/api.ts'
import type { Account, Face, FacePreview } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { inWords, t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'

const FORMS = ['shows', 'files', 'sound'] as const
const WATCHED = ['any', 'unwatched', 'watched'] as const
const REST_MS = 300

type Draft = Pick<Face, 'name' | 'root' | 'form' | 'template' | 'selection' | 'takes_back' | 'with_places'>

const NEW: Omit<Draft, 'root'> = {
  name: '',
  form: 'shows',
  template: '{channel}/{date} {title} [{id}]',
  selection: {},
  takes_back: true,
  with_places: true,
}

export function AddFace({ root, reload }: { root: string; reload: () => Promise<void> }) {
  const first = { ...NEW, root: root === '' ? '' : `${root}/tv` }
  const [draft, set] = useState<Draft>(first)
  const form = useFaceForm(draft)
  const add = async () => {
    await post('/api/face/', { ...draft, name: draft.name.trim(), root: draft.root.trim() })
    set(unlessChanged(draft, first))
    say(t('settings.faces.begun'))
    await reload()
  }
  return (
    <Group title={t('settings.faces.new')}>
      <Form form={form} class="option-form" onSubmit={add}>
        <Fields draft={draft} set={set} errors={form.errors} isNew />
        {form.refusal}
        <div class="buttons">
          <Button kind="main" type="submit" icon={Plus}>
            {t('settings.faces.add')}
          </Button>
        </div>
      </Form>
    </Group>
  )
}

export function ChangeFace({
  face,
  reload,
  onClose,
}: {
  face: Face
  reload: () => Promise<void>
  onClose: () => void
}) {
  const { id, name, root, form: kind, template, selection, takes_back, with_places } = face
  const [draft, set] = useState<Draft>({ name, root, form: kind, template, selection, takes_back, with_places })
  const form = useFaceForm(draft)
  const close = useWhileOpen(onClose)
  const save = async () => {
    const { root: _, ...change } = draft
    await post(`/api/face/${id}/`, { ...change, name: change.name.trim() })
    await reload()
    close()
    say(t('settings.faces.begun'))
  }
  return (
    <Dialog title={t('settings.faces.change.title', { name })} onClose={onClose} isWide>
      <Form form={form} onSubmit={save}>
        <Fields draft={draft} set={set} errors={form.errors} />
        {form.refusal}
        <footer>
          <FormButtons action={t('action.save')} onCancel={onClose} />
        </footer>
      </Form>
    </Dialog>
  )
}

const useFaceForm = ({ name, root }: Draft) =>
  useForm({
    name: { wrong: name.trim() === '' && t('form.required') },
    root: { wrong: root.trim() === '' && t('form.required') },
    template: {},
  })

interface FieldsProps {
  draft: Draft
  set: (draft: Draft) => void
  errors: ReturnType<typeof useFaceForm>['errors']
  isNew?: boolean
}

function Fields({ draft, set, errors, isNew = false }: FieldsProps) {
  const change = (part: Partial<Draft>) => set({ ...draft, ...part })
  const { name, root, form, template } = draft
  return (
    <>
      <Field
        label={t('settings.faces.name')}
        value={name}
        onInput={(given) => change({ name: given })}
        autocomplete="off"
        error={errors.name}
      />
      {isNew ? (
        <Field
          label={t('settings.faces.root')}
          value={root}
          onInput={(given) => change({ root: given })}
          autocomplete="off"
          hint={t('settings.faces.root.hint')}
          error={errors.root}
        />
      ) : (
        <code class="row-words">{root}</code>
      )}
      <fieldset>
        <legend>{t('settings.faces.form')}</legend>
        {FORMS.map((one) => (
          <label class="check" key={one}>
            <input type="radio" name="face-form" checked={form === one} onChange={() => change({ form: one })} />
            <span>{t(`settings.faces.form.${one}`)}</span>
          </label>
        ))}
      </fieldset>
      {form !== 'shows' && (
        <Field
          label={t('settings.faces.template')}
          value={template}
          onInput={(given) => change({ template: given })}
          autocomplete="off"
          hint={t('settings.faces.template.hint')}
          error={errors.template}
        />
      )}
      <SelectionFields selection={draft.selection} onChange={(selection) => change({ selection })} />
      <Switch
        label={t('settings.faces.places')}
        hint={t('settings.faces.places.hint')}
        isOn={draft.with_places}
        onChange={(isOn) => change({ with_places: isOn })}
      />
      {form !== 'sound' && (
        <Switch
          label={t('settings.faces.takesBack')}
          hint={t('settings.faces.takesBack.hint')}
          isOn={draft.takes_back}
          onChange={(isOn) => change({ takes_back: isOn })}
        />
      )}
      <Preview draft={draft} />
    </>
  )
}

type Selection = Draft['selection']
const KEYS = { channel: 'channels', playlist: 'playlists' } as const

function SelectionFields({ selection, onChange }: { selection: Selection; onChange: (selection: Selection) => void }) {
  const [picking, setPicking] = useState<Kind>()
  const { channels, playlists, groups, account, watched } = selection
  /** Leaves out empty values, because an empty list would select nothing. */
  const change = (part: Selection) =>
    onChange(
      Object.fromEntries(
        Object.entries({ ...selection, ...part }).filter(
          ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
        ),
      ),
    )
  const idsOf = (kind: Kind) => selection[KEYS[kind]] ?? []
  const toggle = (kind: Kind, id: string) => {
    const ids = idsOf(kind)
    const rest = ids.filter((one) => one !== id)
    if (rest.length < ids.length) change({ [KEYS[kind]]: rest })
    else if (ids.length < MOST_CHOSEN) change({ [KEYS[kind]]: [...ids, id] })
  }
  return (
    <>
      {!channels && !playlists && !groups && <p class="hint">{t('settings.faces.all')}</p>}
      {KINDS.map((kind) => (
        <Chosen
          key={kind}
          kind={kind}
          ids={idsOf(kind)}
          most={MOST_CHOSEN}
          onDrop={(id) => toggle(kind, id)}
          onPick={() => setPicking(kind)}
        />
      ))}
      <GroupChecks chosen={(groups ?? []).map(String)} onChange={(ids) => change({ groups: ids.map(Number) })} />
      <AccountSelect
        chosen={account}
        onChange={(id) => change({ account: id, ...(id === undefined && { watched: undefined }) })}
      />
      {account !== undefined && (
        <Select
          label={t('settings.faces.watched')}
          value={watched === undefined ? 'any' : watched ? 'watched' : 'unwatched'}
          choices={WATCHED.map((value) => ({ value, label: t(`settings.faces.watched.${value}`) }))}
          onChange={(value) => change({ watched: value === 'any' ? undefined : value === 'watched' })}
        />
      )}
      {picking && (
        <Picker
          kind={picking}
          title={t(`settings.users.choose.${picking}`)}
          chosen={idsOf(picking)}
          onPick={({ id }) => toggle(picking, id)}
          onClose={() => setPicking(undefined)}
        />
      )}
    </>
  )
}

function AccountSelect({ chosen, onChange }: { chosen?: number | undefined; onChange: (id?: number) => void }) {
  const { now } = useLoad<Account[]>('settings/users', (signal) => get('/api/user/', {}, signal))
  const known = (now.value.value ?? []).map(({ id, username }) => ({ value: String(id), label: username }))
  const isGone = chosen !== undefined && !known.some(({ value }) => value === String(chosen))
  return (
    <Select
      label={t('settings.faces.account')}
      value={String(chosen ?? '')}
      choices={[
        { value: '', label: t('settings.faces.account.none') },
        ...known,
        ...(isGone ? [{ value: String(chosen), label: now.value.value ? t('settings.faces.account.gone') : '…' }] : []),
      ]}
      hint={t('settings.faces.account.hint')}
      onChange={(value) => onChange(value === '' ? undefined : Number(value))}
    />
  )
}

/** The preview is requested after a pause in typing. */
function Preview({ draft: { form, template, selection, root } }: { draft: Draft }) {
  const [shown, setShown] = useState<FacePreview>()
  const [fault, setFault] = useState('')
  const asked = JSON.stringify({ form, template, selection, ...(root.trim() !== '' && { root: root.trim() }) })
  useEffect(() => {
    let isOver = false
    const show = async () => {
      try {
        const found = await post<FacePreview>('/api/face/preview/', JSON.parse(asked))
        if (isOver) return
        setShown(found)
        setFault('')
      } catch (error) {
        if (!isOver) setFault(toFailure(error).message)
      }
    }
    const timer = setTimeout(() => void show(), REST_MS)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [asked])
  if (fault !== '') return <p class="bad">{fault}</p>
  if (!shown) return null
  return (
    <>
      {shown.reason !== undefined && <p class="bad">{inWords(shown.reason, shown.said)}</p>}
      {shown.link && <p class="meta">{t(`settings.faces.link.${shown.link}`)}</p>}
      {shown.paths.length > 0 && (
        <details class="settings-advanced" open>
          <summary class="unfold">{t('settings.faces.paths', { count: shown.paths.length })}</summary>
          <ul class="settings-rows">
            {shown.paths.map((path) => (
              <li key={path}>
                <code class="row-words">{path}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
