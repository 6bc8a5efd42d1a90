/** All tasks, including those of external plugins, and their titles. */
import { get } from '../server/api.ts'
import type { TaskKind } from '../server/records.ts'
import { t, textOf } from '../texts/lookup.ts'
import { type Load, useLoad } from './load.ts'

export const useTaskKinds = (): Load<TaskKind[]> => useLoad('tasks', (signal) => get('/api/task/', {}, signal))

/** @param name  empty for a message that belongs to no task */
export const taskTitle = ({ name, title }: Pick<TaskKind, 'name' | 'title'>): string =>
  name === '' ? t('task.inner') : textOf(`task.${name}`, title)
export const taskText = ({ name, description }: TaskKind): string => textOf(`task.${name}.does`, description)
