/** Folders for media servers: the list with their states, forms to add and change them, and the media servers. */
import { FolderCheck, Pencil, RotateCw, Trash } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, remove } from '../../server/api.ts'
import type { Face, Faces } from '../../server/records.ts'
import { useJobs } from '../../stores/jobs.ts'
import { isThere } from '../../stores/left-out.ts'
import { useLoad } from '../../stores/load.ts'
import { toAge, toMoment } from '../../texts/format.ts'
import { inWords, t } from '../../texts/lookup.ts'
import { AddFace, ChangeFace } from './face-form.tsx'
import { MediaServers } from './media-servers.tsx'
import { Group, SwitchOption } from './option.tsx'
import { PlexProvider } from './plex.tsx'

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
            <AddFace root={roots[0] ?? ''} reload={faces.reload} />
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
  const [isOpen, setOpen] = useState(false)
  const update = async () => {
    await post(path, { command: 'update' })
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
          <Button icon={Pencil} of={name} onClick={() => setOpen(true)}>
            {t('settings.faces.change')}
          </Button>
          <Button icon={Trash} of={name} onClick={drop}>
            {t('settings.faces.remove')}
          </Button>
        </div>
      </div>
      {isOpen && <ChangeFace face={face} reload={reload} onClose={() => setOpen(false)} />}
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
