/** What the bare workflows ask for: nothing. @module */
export const bareActivities = { answer: async (text: string): Promise<string> => text };
