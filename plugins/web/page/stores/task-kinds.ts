/** Which tasks there are, those of plugins from outside too, and what they are called. */
import { get } from '../server/api.ts'
import type { TaskKind } from '../server/records.ts'
import { t, textOf } from '../texts/lookup.ts'
import { type Load, useLoad } from './load.ts'

export const useTaskKinds = (): Load<TaskKind[]> => useLoad('tasks', (signal) => get('/api/task/', {}, signal))

/** @param name  empty: of a task that nobody starts */
export const taskTitle = ({ name, title }: Pick<TaskKind, 'name' | 'title'>): string =>
  name === '' ? t('task.inner') : textOf(`task.${name}`, title)
export const taskText = ({ name, description }: TaskKind): string => textOf(`task.${name}.does`, description)
