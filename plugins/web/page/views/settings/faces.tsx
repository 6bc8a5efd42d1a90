/**
 * Folders for media servers: the list with their states, a form for a new one with a preview of its paths, and the
 * media servers.
 */
import { FolderCheck, Plus, RotateCw, Trash } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Form, useForm } from '../../parts/form.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Picker } from '../../parts/picker.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, remove, toFailure } from '../../server/api.ts'
import type { Face, FacePreview, Faces } from '../../server/records.ts'
import { useJobs } from '../../stores/jobs.ts'
import { isThere } from '../../stores/left-out.ts'
import { useLoad } from '../../stores/load.ts'
import { toAge, toMoment } from '../../texts/format.ts'
import { inWords, t } from '../../texts/lookup.ts'
import { MediaServers } from './media-servers.tsx'
import { Group, SwitchOption } from './option.tsx'
import { PlexProvider } from './plex.tsx'

const FORMS = ['shows', 'files', 'sound'] as const
type FaceForm = (typeof FORMS)[number]
const REST_MS = 300
const DEFAULT_TEMPLATE = '{channel}/{date} {title} [{id}]'

export function FacesSection() {
  const faces = useLoad<Faces>('settings/faces', (signal) => get('/api/face/', {}, signal))
  useJobs(['update_faces'], () => void faces.reload())
  return (
    <>
      <p class="settings-lead">{t('settings.faces.lead')}</p>
      <Loaded from={faces}>
        {({ faces: all, roots }) => (
          <>
            {all.map((face) => (
              <One key={face.id} face={face} reload={faces.reload} />
            ))}
            <Add root={roots[0] ?? ''} reload={faces.reload} />
          </>
        )}
      </Loaded>
      <MediaServers />
      {isThere('plex') && <PlexProvider />}
    </>
  )
}

function One({ face, reload }: { face: Face; reload: () => Promise<void> }) {
  const { id, name, root, form, template, state, said } = face
  const path = `/api/face/${id}/`
  const update = async () => {
    await post('/api/task-name/update_faces/', { face: id })
    say(t('settings.faces.begun'))
  }
  const accept = async () => {
    await post(path, { command: 'accept' })
    await reload()
  }
  const drop = async () => {
    const isSure = await confirm({
      title: t('settings.faces.remove.title', { name }),
      text: <p>{t('settings.faces.remove.text')}</p>,
      action: t('settings.faces.remove'),
    })
    if (!isSure) return
    await remove(path)
    say(t('settings.faces.removing'))
    await reload()
  }
  return (
    <Group title={name}>
      <SwitchOption
        label={t('settings.faces.on', { name })}
        hint={t(`settings.faces.form.${form}`)}
        value={face.is_on}
        onSave={async (wanted) => {
          await post(path, { is_on: wanted })
          await reload()
        }}
      />
      <div class="option-form">
        <code class="row-words">{form === 'shows' ? root : `${root}/${template}`}</code>
        <State face={face} />
        {state.error !== undefined && (
          <p class="bad" role="alert">
            {inWords(state.error, said)}
          </p>
        )}
        {state.problems && (
          <details class="settings-advanced">
            <summary class="unfold">{t('settings.faces.problems')}</summary>
            <ul class="settings-rows">
              {state.problems.map((problem) => (
                <li key={problem.path}>
                  <div class="row-words">
                    <code>{problem.path}</code>
                    <p class="bad">{inWords(problem.reason, said)}</p>
                  </div>
                </li>
              ))}
            </ul>
          </details>
        )}
        <div class="buttons">
          <Button icon={RotateCw} of={name} onClick={update}>
            {t('settings.faces.update')}
          </Button>
          {state.error !== undefined && (
            <Button icon={FolderCheck} of={name} onClick={accept}>
              {t('settings.faces.accept')}
            </Button>
          )}
          <Button icon={Trash} of={name} onClick={drop}>
            {t('settings.faces.remove')}
          </Button>
        </div>
      </div>
    </Group>
  )
}

function State({ face: { state } }: { face: Face }) {
  if (state.at === undefined) return <p class="meta">{t('settings.faces.never')}</p>
  const links = Object.keys(state.links ?? {})
  return (
    <p class="meta" title={toMoment(state.at)}>
      {[
        state.films !== undefined && t('settings.faces.films', { count: state.films }),
        ...(['hard', 'reflink', 'symbolic'] as const)
          .filter((kind) => links.includes(kind))
          .map((kind) => t(`settings.faces.link.${kind}`)),
        t('settings.faces.updated', { when: toAge(state.at) }),
      ]
        .filter(Boolean)
        .join(' · ')}
    </p>
  )
}

interface Chosen {
  id: string
  name: string
}

function Add({ root: first, reload }: { root: string; reload: () => Promise<void> }) {
  const [name, setName] = useState('')
  const [root, setRoot] = useState(first === '' ? '' : `${first}/tv`)
  const [kind, setKind] = useState<FaceForm>('shows')
  const [template, setTemplate] = useState(DEFAULT_TEMPLATE)
  const [channels, setChannels] = useState<Chosen[]>([])
  const [playlists, setPlaylists] = useState<Chosen[]>([])
  const [picking, setPicking] = useState<'channel' | 'playlist'>()
  const selection = {
    ...(channels.length > 0 && { channels: channels.map(({ id }) => id) }),
    ...(playlists.length > 0 && { playlists: playlists.map(({ id }) => id) }),
  }
  const face = { form: kind, template, selection, root: root.trim() }
  const form = useForm({
    name: { wrong: name.trim() === '' && t('form.required') },
    root: { wrong: root.trim() === '' && t('form.required') },
    template: {},
  })
  const add = async () => {
    await post('/api/face/', { ...face, name: name.trim() })
    setName('')
    say(t('settings.faces.begun'))
    await reload()
  }
  const toggle = (all: Chosen[], one: Chosen): Chosen[] =>
    all.some(({ id }) => id === one.id) ? all.filter(({ id }) => id !== one.id) : [...all, one]
  const chosen = [...channels, ...playlists].map((one) => one.name)
  return (
    <Group title={t('settings.faces.new')}>
      <Form form={form} class="option-form" onSubmit={add}>
        <Field
          label={t('settings.faces.name')}
          value={name}
          onInput={setName}
          autocomplete="off"
          error={form.errors.name}
        />
        <Field
          label={t('settings.faces.root')}
          value={root}
          onInput={setRoot}
          autocomplete="off"
          hint={t('settings.faces.root.hint')}
          error={form.errors.root}
        />
        <fieldset>
          <legend>{t('settings.faces.form')}</legend>
          {FORMS.map((one) => (
            <label class="check" key={one}>
              <input type="radio" name="face-form" checked={kind === one} onChange={() => setKind(one)} />
              <span>{t(`settings.faces.form.${one}`)}</span>
            </label>
          ))}
        </fieldset>
        {kind !== 'shows' && (
          <Field
            label={t('settings.faces.template')}
            value={template}
            onInput={setTemplate}
            autocomplete="off"
            hint={t('settings.faces.template.hint')}
            error={form.errors.template}
          />
        )}
        <p class="meta">{chosen.length === 0 ? t('settings.faces.all') : chosen.join(' · ')}</p>
        <div class="buttons">
          <Button onClick={async () => setPicking('channel')}>{t('settings.faces.channels')}</Button>
          <Button onClick={async () => setPicking('playlist')}>{t('settings.faces.playlists')}</Button>
        </div>
        <Preview face={face} />
        <div class="buttons">
          <Button kind="main" type="submit" icon={Plus}>
            {t('settings.faces.add')}
          </Button>
        </div>
      </Form>
      {picking && (
        <Picker
          kind={picking}
          title={t(`settings.faces.${picking}s`)}
          chosen={(picking === 'channel' ? channels : playlists).map(({ id }) => id)}
          onPick={(one) =>
            picking === 'channel' ? setChannels((all) => toggle(all, one)) : setPlaylists((all) => toggle(all, one))
          }
          onClose={() => setPicking(undefined)}
        />
      )}
    </Group>
  )
}

/** Requested after a pause in typing. */
function Preview({ face }: { face: object }) {
  const [shown, setShown] = useState<FacePreview>()
  const [fault, setFault] = useState('')
  const asked = JSON.stringify(face)
  useEffect(() => {
    let isOver = false
    const show = async () => {
      const { root, ...rest } = JSON.parse(asked) as { root: string }
      try {
        const found = await post<FacePreview>('/api/face/preview/', { ...rest, ...(root !== '' && { root }) })
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
