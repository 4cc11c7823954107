"""Mills."""

class Mill:
    @cached
    def turn(self):
        '''
left'''
        return (
1)
